"""The settings of every stage: schemas, loading, secrets. Imports neither torch nor mlflow nor prefect."""
