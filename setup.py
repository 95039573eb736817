"""Adds the app to the wheel: app.py, pages/, sample_data/ and .streamlit/config.toml become ragdash/_bundle.

Everything else about the package stands in pyproject.toml.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
APP = ("app.py", "pages/**/*.py", "sample_data/**/*", ".streamlit/config.toml")


def app_files() -> list[Path]:
    """What `streamlit run app.py` needs beside the package, relative to the checkout."""
    found = (path for pattern in APP for path in ROOT.glob(pattern) if path.is_file())
    return sorted(path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts)


class BuildWithApp(build_py):
    """Copies the app into the built package; an editable install runs the checkout's own."""

    def _bundled(self) -> dict[str, str]:
        target = Path(self.build_lib, "ragdash", "_bundle")
        return {} if self.editable_mode else {str(target / file): file.as_posix() for file in app_files()}

    def run(self) -> None:
        super().run()
        for target, source in self._bundled().items():
            self.mkpath(str(Path(target).parent))
            self.copy_file(source, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        return [*super().get_outputs(include_bytecode), *self._bundled()]

    def get_output_mapping(self) -> dict[str, str]:
        return {**super().get_output_mapping(), **self._bundled()}

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *(file.as_posix() for file in app_files())]


setup(cmdclass={"build_py": BuildWithApp})
