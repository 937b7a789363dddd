"""EviFlow's library: everything the flows and the command line are made of. It never imports Prefect."""
