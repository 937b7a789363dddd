"""Which vocabulary token ids are of: the same number is another word in another model's.

Ids may be read again, as context or to learn from, only by a model of the same vocabulary; for any other the text of
the turn is encoded, once.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from components.errors import UsageError


def vocabulary_of(tokenizer: Any) -> str:
    """A digest of what each id of a Hugging Face tokenizer stands for: `tokenizer:` and hexadecimal digits."""
    table = json.dumps(sorted(tokenizer.get_vocab().items()), ensure_ascii=False)
    return f"tokenizer:{hashlib.sha256(table.encode()).hexdigest()}"


class Vocabulary:
    """The vocabulary of a tokenizer that was saved in a folder.

    Raises:
        UsageError: there is none.

    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer

        if not (folder / "tokenizer_config.json").exists():
            raise UsageError(f"serving.tokenizer: {folder} holds no tokenizer; name the folder of the served model's")
        tokenizer = AutoTokenizer.from_pretrained(folder)
        self.name = vocabulary_of(tokenizer)
        self.size = len(tokenizer)
