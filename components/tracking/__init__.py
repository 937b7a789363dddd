"""The only importer of mlflow: runs, datasets, models and traces, always by explicit run id."""
