"""Cases in and out of the project: the released layout, any folder with a table, Hugging Face `datasets` folders."""
