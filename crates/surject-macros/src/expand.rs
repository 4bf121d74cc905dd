//! What the macros become: the text, the names it takes from Rust, and a call that evaluates it.

use crate::library;
use crate::text::Text;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use surject_notation::source::{Expr, ExprKind, Item, ItemKind, Source};

type Expanded = Result<TokenStream, TokenStream>;

/// `op!`.
pub fn op(tokens: TokenStream) -> TokenStream {
    either(Invocation::read(tokens).and_then(|invocation| {
        let last = invocation.source.items.last();
        let function = match last.map(|item| &item.kind) {
            Some(ItemKind::Expr(expr)) => is_function(expr, &invocation.source.items),
            Some(ItemKind::Function(_)) => quote!(layer),
            _ => {
                let span = last.map_or(0, |item| item.span.start);
                let message =
                    "op! ends with an expression or a function; actions and assignments stand in assign!";
                return Err(wrong(invocation.text.span_at(span), message));
            }
        };
        Ok(invocation.call(&function))
    }))
}

/// `assign!`.
pub fn assign(tokens: TokenStream) -> TokenStream {
    either(Invocation::read(tokens).map(|invocation| invocation.call(&quote!(assign))))
}

fn either(expanded: Expanded) -> TokenStream {
    match expanded {
        Ok(tokens) | Err(tokens) => tokens,
    }
}

/// A lambda, a function that the text defines, and what `()` made are layers; everything else is a tensor.
fn is_function(expr: &Expr, items: &[Item]) -> TokenStream {
    let defined = |name: &str| {
        items.iter().rev().find_map(|item| match &item.kind {
            ItemKind::Function(f) if f.name.text == name => Some(true),
            ItemKind::Let { name: n, value } if n.text == name => {
                Some(matches!(value.kind, ExprKind::Lambda(..)))
            }
            _ => None,
        })
    };
    let layer = match &expr.kind {
        ExprKind::Lambda(..) => true,
        ExprKind::Call(_, arguments) => arguments.is_empty(),
        ExprKind::Name(name) => defined(name) == Some(true),
        _ => false,
    };
    if layer { quote!(layer) } else { quote!(tensor) }
}

fn wrong(span: Span, message: &str) -> TokenStream {
    quote_spanned!(span=> ::core::compile_error!(#message))
}

/// What a macro was given.
struct Invocation {
    /// The crate that evaluates.
    house: TokenStream,
    /// The graph, where it is named.
    graph: Option<TokenStream>,
    text: Text,
    source: Source,
}

impl Invocation {
    fn read(tokens: TokenStream) -> Result<Invocation, TokenStream> {
        let mut tokens = tokens.into_iter().peekable();
        let house = match tokens.next() {
            Some(TokenTree::Group(group)) => group.stream(),
            _ => return Err(wrong(Span::call_site(), "use this macro through surject_tensor")),
        };
        let mut graph = None;
        if matches!(tokens.peek(), Some(TokenTree::Ident(word)) if word == "in") {
            tokens.next();
            let semicolon = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ';');
            let mut named = TokenStream::new();
            while let Some(token) = tokens.next_if(|t| !semicolon(t)) {
                named.extend([token]);
            }
            tokens.next();
            graph = Some(named);
        }
        let mut text = Text::of(tokens.collect());
        // A last expression needs no `;`, as in Rust.
        let source = Source::parse(&text.text).or_else(|open| {
            let end = text.text.trim_end().len();
            Source::parse(&format!("{};", text.text)).map_err(|closed| {
                let closed_is_better = open.span.start >= end && closed.span.start < end;
                if closed_is_better { closed } else { open }
            })
        });
        let source = source.map_err(|error| {
            let mut message = error.to_string();
            if !error.expected.is_empty() {
                message += &format!("\n  = expected: {}", error.expected.join(", "));
            }
            if let Some(help) = &error.help {
                message += &format!("\n  = help: {help}");
            }
            wrong(text.span_at(error.span.start), &message)
        })?;
        if Source::parse(&text.text).is_err() {
            text.text.push(';');
        }
        Ok(Invocation { house, graph, text, source })
    }

    /// The call that evaluates the text.
    fn call(&self, function: &TokenStream) -> TokenStream {
        let Invocation { house, graph, text, source } = self;
        let (line, column) = match text.start {
            Some((line, column)) => (quote!(#line), quote!(#column)),
            None => (quote!(::core::line!() as usize), quote!(1)),
        };
        let names: Vec<_> = source
            .free_names()
            .into_iter()
            .filter(|name| name.text != "_" && !library::has(&name.text))
            .map(|name| {
                let span = text.span_at(name.span.start);
                // A name of a spec stands inside of its string, whose token has the hygiene of the place, too.
                let ident = Ident::new(&name.text, span);
                let name = &name.text;
                quote_spanned!(span=> (#name, #house::inline::Capture::capture(&#ident)))
            })
            .collect();
        let graph = match graph {
            Some(graph) => quote!(::core::option::Option::Some(#house::inline::InGraph::graph_of(&#graph))),
            None => quote!(::core::option::Option::None),
        };
        let text = &text.text;
        quote! {
            #house::inline::#function(
                #house::inline::Inline { file: ::core::file!(), line: #line, column: #column, text: #text },
                #graph,
                ::std::vec![#(#names),*],
            )
        }
    }
}
