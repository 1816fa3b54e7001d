"""An animated scene as a USD file (.usd, .usda, .usdc): z is up, metres, time codes are seconds times `FPS`.

Needs usd-core: pip install "holonomy[usd]".
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.gltf import GHOST_ALPHA
from export.ground import GroundMesh
from export.nodes import CameraTrack, Content, Keyframes, Node, nodes_of
from export.output import OutputError

FPS = 30.0
_ROOM_BYTES = 1 << 16
"""With less of a disk left, an error is taken for that: usd-core does not tell."""
_APERTURE_MM = 24.0
"""Height of the camera's film, from which its focal length follows."""


def write_usd(path: Path, content: Content) -> None:
    """Write the scene as the form of USD that the file's ending says. Raises OutputError, InputError."""
    try:
        from pxr import Tf
    except ImportError:
        raise OutputError(
            f'{content.file_name}: USD needs usd-core, which is not there; pip install "holonomy[usd]"'
        ) from None
    # USD tells its forms by the ending, which a temporary name has not, and errors are told by the name.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".usd-") as folder:
        part = Path(folder) / content.file_name
        try:
            _Layer(part, content.title).build(nodes_of(content.motions), content.ground, content.camera)
        except Tf.ErrorException as error:
            full = shutil.disk_usage(path.parent).free < _ROOM_BYTES
            told = os.strerror(errno.ENOSPC) if full else str(error).strip().splitlines()[-1].strip()
            raise OutputError(f"{content.file_name} cannot be written: {told}") from None
        os.replace(part, path)


class _Layer:
    """One stage under construction."""

    def __init__(self, path: Path, title: str) -> None:
        from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt

        self._gf, self._sdf, self._geom, self._shade, self._vt = Gf, Sdf, UsdGeom, UsdShade, Vt
        self._stage: Any = Usd.Stage.CreateNew(str(path))
        UsdGeom.SetStageUpAxis(self._stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(self._stage, 1.0)
        self._stage.SetTimeCodesPerSecond(FPS)
        self._stage.SetFramesPerSecond(FPS)
        self._stage.SetMetadata("comment", f"{title}: metres, seconds, radians; written by holonomy")
        root = UsdGeom.Xform.Define(self._stage, "/World")
        self._stage.SetDefaultPrim(root.GetPrim())
        self._materials: dict[tuple[object, ...], Any] = {}

    def build(self, nodes: Sequence[Node], ground: GroundMesh | None, camera: CameraTrack | None) -> None:
        tracks = [node.track for node in nodes if node.track is not None]
        if tracks:
            self._stage.SetStartTimeCode(FPS * min(float(track.time[0]) for track in tracks))
            self._stage.SetEndTimeCode(FPS * max(float(track.time[-1]) for track in tracks))
        paths: list[str] = []
        for node in nodes:
            parent = "/World" if node.parent is None else paths[node.parent]
            paths.append(self._add(node, parent))
        if ground is not None:
            mesh = self._mesh("/World/ground", ground.positions, ground.normals, ground.triangles)
            mesh.CreateDisplayColorPrimvar(self._geom.Tokens.vertex).Set(
                self._vt.Vec3fArray.FromNumpy(np.ascontiguousarray(ground.colours, "f4"))
            )
            mean = tuple(ground.colours.mean(axis=0).tolist())
            self._bind(mesh, self._material("ground", mean, (0.0, 0.0, 0.0), 0.0, 0.95, 1.0))
        if camera is not None:
            self._add_camera(camera)
        if not self._stage.GetRootLayer().Save():
            raise OutputError("the USD file cannot be written")

    def _free(self, parent: str, name: str) -> str:
        """A path that is not taken, by a name that USD allows."""
        stem = re.sub(r"\W", "_", name, flags=re.ASCII) or "node"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        path, count = f"{parent}/{stem}", 2
        while self._stage.GetPrimAtPath(path):
            path, count = f"{parent}/{stem}_{count}", count + 1
        return path

    def _add(self, node: Node, parent: str) -> str:
        path = self._free(parent, node.name)
        prim = self._geom.Xform.Define(self._stage, path)
        prim.GetPrim().SetDisplayName(node.name)
        if node.track is not None:
            self._move(prim, node.track)
        elif any(node.at_m):
            prim.AddTranslateOp(self._geom.XformOp.PrecisionDouble).Set(self._gf.Vec3d(*node.at_m))
        if node.asset is not None:
            self._show(node, path)
        return path

    def _move(self, prim: Any, track: Keyframes) -> None:
        double = self._geom.XformOp.PrecisionDouble
        moves = prim.AddTranslateOp(double)
        turns = prim.AddOrientOp(double)
        self._key(moves, track.time, track.translation, lambda v: self._gf.Vec3d(*v))
        self._key(turns, track.time, track.rotation, lambda q: self._gf.Quatd(q[3], q[0], q[1], q[2]))
        if (track.scale != 1.0).any():
            self._key(prim.AddScaleOp(double), track.time, track.scale, lambda v: self._gf.Vec3d(*v))
        if not track.shown.all():
            seen = self._geom.Imageable(prim).CreateVisibilityAttr()
            tokens = self._geom.Tokens
            changes = np.flatnonzero(np.append(True, np.diff(track.shown)))
            for k in changes.tolist():
                seen.Set(tokens.inherited if track.shown[k] else tokens.invisible, FPS * float(track.time[k]))

    def _key(self, op: Any, time: np.ndarray, values: np.ndarray, made: Any) -> None:
        """What never changes has no time samples."""
        if (values == values[0]).all():
            op.Set(made(values[0].tolist()))
            return
        for time_s, value in zip(time.tolist(), values.tolist(), strict=True):
            op.Set(made(value), FPS * time_s)

    def _show(self, node: Node, path: str) -> None:
        asset = node.asset
        assert asset is not None
        for number, positions, normals, triangles in asset.meshes(node.part):
            mesh = self._mesh(self._free(path, f"look_{number}"), positions, normals, triangles)
            rows = asset.materials[number].astype(float)
            if node.ghost:
                look = self._material("ghost", node.tint, (0.0, 0.0, 0.0), 0.0, 0.6, GHOST_ALPHA)
            else:
                look = self._material(
                    f"look_{number}", tuple(rows[0, :3]), tuple(rows[3, :3]),
                    float(rows[0, 3]), float(rows[1, 3]), float(rows[3, 3]),
                )  # fmt: skip
            self._bind(mesh, look)

    def _mesh(self, path: str, positions: np.ndarray, normals: np.ndarray, triangles: np.ndarray) -> Any:
        vt = self._vt
        mesh = self._geom.Mesh.Define(self._stage, path)
        mesh.CreatePointsAttr(vt.Vec3fArray.FromNumpy(np.ascontiguousarray(positions, "f4")))
        mesh.CreateNormalsAttr(vt.Vec3fArray.FromNumpy(np.ascontiguousarray(normals, "f4")))
        mesh.SetNormalsInterpolation(self._geom.Tokens.vertex)
        mesh.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(np.full(len(triangles), 3, "i4")))
        flat = np.ascontiguousarray(triangles.reshape(-1), "i4")
        mesh.CreateFaceVertexIndicesAttr(vt.IntArray.FromNumpy(flat))
        mesh.CreateSubdivisionSchemeAttr(self._geom.Tokens.none)
        low, high = positions.min(axis=0), positions.max(axis=0)
        mesh.CreateExtentAttr([self._gf.Vec3f(*map(float, low)), self._gf.Vec3f(*map(float, high))])
        return mesh

    def _bind(self, mesh: Any, material: Any) -> None:
        self._shade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)

    def _material(
        self,
        name: str,
        colour: Sequence[float],
        glow: Sequence[float],
        metallic: float,
        roughness: float,
        alpha: float,
    ) -> Any:
        key = (name, *map(float, colour), *map(float, glow), metallic, roughness, alpha)
        if key not in self._materials:
            types, color = self._sdf.ValueTypeNames, lambda rgb: self._gf.Vec3f(*map(float, rgb))
            if not self._stage.GetPrimAtPath("/World/Looks"):
                self._geom.Scope.Define(self._stage, "/World/Looks")
            path = self._free("/World/Looks", name)
            material = self._shade.Material.Define(self._stage, path)
            shader = self._shade.Shader.Define(self._stage, f"{path}/surface")
            shader.CreateIdAttr("UsdPreviewSurface")
            shader.CreateInput("diffuseColor", types.Color3f).Set(color(colour))
            shader.CreateInput("emissiveColor", types.Color3f).Set(color(glow))
            shader.CreateInput("metallic", types.Float).Set(metallic)
            shader.CreateInput("roughness", types.Float).Set(roughness)
            shader.CreateInput("opacity", types.Float).Set(alpha)
            material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
            self._materials[key] = material
        return self._materials[key]

    def _add_camera(self, camera: CameraTrack) -> None:
        prim = self._geom.Camera.Define(self._stage, "/World/camera")
        self._move(prim, camera.track)
        # Film and focal length are in tenths of a unit, which is a metre.
        prim.CreateVerticalApertureAttr(_APERTURE_MM)
        prim.CreateHorizontalApertureAttr(_APERTURE_MM * camera.aspect)
        prim.CreateFocalLengthAttr(0.5 * _APERTURE_MM / float(np.tan(0.5 * camera.fov_y_rad)))
        prim.CreateClippingRangeAttr(self._gf.Vec2f(camera.near_m, camera.far_m))
