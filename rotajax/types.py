"""Shape letters, array names and the `struct` decorator that every room shares.

Letters: N points, C columns, H W pixels (320 x 320), A actions (24), K beam, B batch, T steps, G symmetries (24).
"""

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import jax
import numpy as np
from jaxtyping import Bool, Float32, Int32, Key, UInt8, UInt16, UInt32

__all__ = [
    "Array",
    "Bool",
    "Float32",
    "Int32",
    "Key",
    "Mask",
    "Rotation",
    "UInt8",
    "UInt16",
    "UInt32",
    "View",
    "static",
    "struct",
]

T = TypeVar("T")
if TYPE_CHECKING:
    from jax import Array
else:
    # Host data is NumPy until the first jitted call, and a leaf of one task a NumPy scalar: every function takes them.
    Array = jax.Array | np.ndarray | np.generic
Mask = Bool[Array, "H W"]
View = UInt8[Array, "H W"]
Rotation = Float32[Array, "3 3"]


def static(**kwargs: Any) -> Any:
    """Return a dataclass field that is part of the structure, not a leaf: it keys the compilation cache."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(static, dataclasses.field))
def struct(cls: type[T]) -> type[T]:
    """Return `cls` as a frozen, keyword-only dataclass registered as a pytree."""
    # Pytree transformations put placeholders into the fields: the runtime type checker leaves them alone.
    cls.__no_type_check__ = True  # type: ignore[attr-defined]
    cls = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    jax.tree_util.register_dataclass(
        cls,
        data_fields=[f.name for f in fields if not f.metadata.get("static")],
        meta_fields=[f.name for f in fields if f.metadata.get("static")],
    )
    return cls
