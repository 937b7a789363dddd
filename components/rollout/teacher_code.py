"""What a teacher's episodes are made of, apart so that naming it loads nothing."""

CODE = (
    "components/agent",
    "components/policies/casebook.py",
    "components/policies/chatting.py",
    "components/policies/inquiry.py",
    "components/policies/layout.py",
    "components/policies/openai.py",
    "components/policies/reading.py",
    "components/policies/scripted.py",
    "components/policies/served_check.py",
    "components/policies/slips.py",
    "components/policies/vocabulary.py",
    "components/records",
    "components/rollout",
    "components/tools",
    "components/world",
)
"""Source folders and files, sorted."""
