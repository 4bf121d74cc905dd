//! The serialised forms of what a plan holds: element types by name, programs as text.

/// An element type by its name.
pub(crate) mod dtype {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use surject_ir::DType;

    pub fn serialize<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(dtype)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_| D::Error::custom(format!("`{name}` is no element type")))
    }
}

/// A program as its text.
pub(crate) mod program {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use surject_ir::Program;

    pub fn serialize<S: Serializer>(program: &Program, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&surject_ir::print(program))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Program, D::Error> {
        surject_ir::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
