//! What is wrong with a directive of a schedule, and with which of its words.

/// What is wrong with a directive.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The word to blame; all of the directive where there is none, or it does not stand in it.
    pub(crate) word: Option<String>,
    pub(crate) message: String,
}

impl Fault {
    /// A fault of a word.
    pub(crate) fn of(word: &str, message: impl Into<String>) -> Fault {
        Fault { word: Some(word.to_string()), message: message.into() }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault { word: None, message }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Fault {
        Fault::from(message.to_string())
    }
}
