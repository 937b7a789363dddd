"""Jinja as every page of the project uses it."""

import jinja2


def template_environment(package: str) -> jinja2.Environment:
    """Templates of a package: everything is escaped, and a name that is not there is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = lambda name: name.replace("_", " ")
    return environment
