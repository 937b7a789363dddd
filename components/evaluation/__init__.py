"""Scoring investigations: metrics, intervals, judges, the review of teacher episodes, reports."""
