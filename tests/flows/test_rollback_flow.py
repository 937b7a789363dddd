"""The rollback flow against a real Prefect server, git and DVC."""

import pytest
from versions_lab import Lab

from components.storage.rollback import ObjectsMissing
from components.storage.versions import read_version
from flows.contract import RollbackRequest
from flows.rollback_flow import rollback

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


def test_a_dry_run_changes_nothing_and_the_run_after_it_does(lab: Lab) -> None:
    before = lab.state()
    request = RollbackRequest(revision="HEAD~1", root=str(lab.root), dry_run=True)
    planned = rollback(request)
    assert lab.state() == before
    done = rollback(request.model_copy(update={"dry_run": False}))
    assert done == planned
    assert (done.commit, done.objects, done.fetched) == (read_version(lab.root, "HEAD~1").commit, 6, 0)
    assert done.switched[-1] == "dvc.lock"
    assert lab.state()["data/web/page"] == b"page 1"


def test_a_version_with_missing_objects_fails_the_flow_and_changes_nothing(lab: Lab) -> None:
    lab.forget()
    before = lab.state()
    with pytest.raises(ObjectsMissing):
        rollback(RollbackRequest(revision="HEAD~1", root=str(lab.root)))
    assert lab.state() == before
