//! From tokens back to the text they were, with the token of every place.

use proc_macro2::{Delimiter, LineColumn, Spacing, Span, TokenStream, TokenTree};

/// A text and its tokens.
pub struct Text {
    /// The text, from the first token on. Blanks and line ends are those of the source where the compiler says where its
    /// tokens stand, so that positions in the text are positions in the source; comments are blanks.
    pub text: String,
    /// Line and column of the first token, both from one; nothing where the compiler does not say.
    pub start: Option<(usize, usize)>,
    /// The tokens by their bytes in the text, in order.
    tokens: Vec<(usize, usize, Span)>,
}

impl Text {
    /// The text of some tokens.
    pub fn of(tokens: TokenStream) -> Text {
        let mut writer = Writer {
            text: Text { text: String::new(), start: None, tokens: Vec::new() },
            at: None,
            spaced: false,
        };
        writer.stream(tokens);
        writer.text
    }

    /// The token at a byte; behind the last one the last one.
    pub fn span_at(&self, byte: usize) -> Span {
        let behind = self.tokens.partition_point(|(start, ..)| *start <= byte);
        match self.tokens.get(behind.saturating_sub(1)) {
            Some((_, end, _)) if byte >= *end && behind < self.tokens.len() => self.tokens[behind].2,
            Some((.., span)) => *span,
            None => Span::call_site(),
        }
    }
}

struct Writer {
    text: Text,
    /// Where the source continues after the token before, if that is known.
    at: Option<LineColumn>,
    /// Whether a blank has to stand between this token and the one before, if places are unknown.
    spaced: bool,
}

impl Writer {
    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        // What another macro passed on as one expression stays one.
                        Delimiter::None if group.stream().into_iter().count() > 1 => ("(", ")"),
                        Delimiter::None => ("", ""),
                    };
                    let real = group.delimiter() != Delimiter::None;
                    self.token(open, group.span_open(), real);
                    self.spaced = false;
                    self.stream(group.stream());
                    // `|]` closes a literal, so that nothing may come between.
                    self.spaced = false;
                    self.token(close, group.span_close(), real);
                    self.spaced = true;
                }
                TokenTree::Punct(punct) => {
                    // `~logic:` is one word of the notation.
                    let sign = punct.as_char();
                    self.spaced &= sign != ':';
                    self.token(&sign.to_string(), punct.span(), true);
                    self.spaced = punct.spacing() == Spacing::Alone && sign != '~';
                }
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    self.token(name.strip_prefix("r#").unwrap_or(&name), ident.span(), true);
                    self.spaced = true;
                }
                TokenTree::Literal(literal) => {
                    self.token(&literal.to_string(), literal.span(), true);
                    self.spaced = true;
                }
            }
        }
    }

    fn token(&mut self, token: &str, span: Span, placed: bool) {
        if token.is_empty() {
            return;
        }
        let (from, to) = (span.start(), span.end());
        let known = placed && from.line > 0 && (from.line, from.column) < (to.line, to.column);
        match self.at {
            Some(at) if known && (from.line, from.column) >= (at.line, at.column) => {
                if from.line > at.line {
                    self.text.text.extend(std::iter::repeat_n('\n', from.line - at.line));
                    self.text.text.extend(std::iter::repeat_n(' ', from.column));
                } else {
                    self.text.text.extend(std::iter::repeat_n(' ', from.column - at.column));
                }
            }
            None if self.text.tokens.is_empty() => {
                self.text.start = known.then_some((from.line, from.column + 1));
            }
            _ if self.spaced => self.text.text.push(' '),
            _ => {}
        }
        let start = self.text.text.len();
        self.text.text.push_str(token);
        self.text.tokens.push((start, self.text.text.len(), span));
        self.at = known.then_some(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        Text::of(source.parse().unwrap()).text
    }

    #[test]
    fn places_are_those_of_the_source() {
        for source in [
            "p =- lr * p.grad ~logic:\".\"",
            "let y = relu({ w } * x\n      + { b, o = [16] });\n  y",
            "[|a, b|] ++^ \"a; b => a^b\"",
            "v =:@^ x **. 2 + !.n",
        ] {
            assert_eq!(text(source), source);
        }
    }

    #[test]
    fn comments_are_blanks() {
        assert_eq!(text("a /* b */ + // c\n b"), "a         +\n b");
    }

    #[test]
    fn tokens_without_places_keep_their_signs_together() {
        let strip = |stream: TokenStream| -> TokenStream {
            stream
                .into_iter()
                .map(|mut token| {
                    token.set_span(Span::call_site());
                    token
                })
                .collect()
        };
        let tokens = strip("v =:+ a *. b ~logic : \"ij;jk=>ik\"".parse().unwrap());
        assert_eq!(Text::of(tokens).text, "v =:+ a *. b ~logic: \"ij;jk=>ik\"");
    }

    #[test]
    fn every_byte_has_its_token() {
        let text = Text::of("abc + de".parse().unwrap());
        let at = |byte| text.span_at(byte).start().column;
        assert_eq!([at(0), at(2), at(3), at(4), at(6), at(100)], [0, 0, 4, 4, 6, 6]);
    }
}
