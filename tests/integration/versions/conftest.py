"""A laboratory whose versions are in S3 too."""

import itertools
from typing import NamedTuple

import pytest
from object_server import ObjectServer
from versions_lab import Lab, S3Remote, copy_of

NUMBERS = itertools.count()


class Pushed(NamedTuple):
    """A laboratory and its remote."""

    lab: Lab
    s3: S3Remote


@pytest.fixture(scope="session")
def filled(versions_template: Lab, object_server: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> S3Remote:
    """A remote to which DVC has pushed both versions."""
    lab = copy_of(versions_template, tmp_path_factory.mktemp("filled") / "lab")
    s3 = S3Remote(object_server, "filled")
    s3.attach(lab)
    lab.push()
    assert s3.objects() == lab.objects()
    return s3


@pytest.fixture
def pushed(lab: Lab, object_server: ObjectServer, filled: S3Remote) -> Pushed:
    s3 = S3Remote(object_server, f"project-{next(NUMBERS)}")
    s3.attach(lab)
    s3.fill_from(filled)
    return Pushed(lab, s3)
