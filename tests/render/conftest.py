"""One off-screen context for all render tests; every test must leave it without an error."""

import moderngl
import pytest


@pytest.fixture(scope="session")
def session_context():
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    yield ctx
    ctx.release()


@pytest.fixture
def ctx(session_context):
    assert session_context.error == "GL_NO_ERROR"
    yield session_context
    assert session_context.error == "GL_NO_ERROR"
