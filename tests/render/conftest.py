"""One off-screen context for all render tests; every test must leave it without an error."""

from collections.abc import Iterator

import moderngl
import pytest


@pytest.fixture(scope="session")
def session_context() -> Iterator[moderngl.Context]:
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    yield ctx
    ctx.release()


@pytest.fixture
def ctx(session_context: moderngl.Context) -> Iterator[moderngl.Context]:
    with session_context:  # tests of other folders may have made another one current
        assert session_context.error == "GL_NO_ERROR"
        yield session_context
        # Making one binds again what was bound: an error where that has been freed.
        session_context.simple_framebuffer((1, 1)).release()
        assert session_context.error == "GL_NO_ERROR"
