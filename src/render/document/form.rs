//! The forms a document is written in, and which of them show a block or a column.

/// A form that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of a limited width.
    Terminal,
    /// GitHub-flavoured Markdown.
    Markdown,
    /// A self-contained page.
    Html,
}

/// A set of forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms(u8);

impl Forms {
    /// No form.
    pub const NONE: Forms = Forms(0);
    /// The terminal and Markdown.
    pub const TEXT: Forms = Forms(0b011);
    /// HTML, which has pictures and room to scroll.
    pub const HTML: Forms = Forms(0b100);
    /// Every form.
    pub const ALL: Forms = Forms(0b111);

    /// Returns whether the set has this form.
    pub const fn has(self, form: Form) -> bool {
        self.0 & (1 << form as u8) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_their_forms() {
        let forms = [Form::Terminal, Form::Markdown, Form::Html];
        assert_eq!(forms.map(|form| Forms::TEXT.has(form)), [true, true, false]);
        assert_eq!(forms.map(|form| Forms::HTML.has(form)), [false, false, true]);
        assert!(forms.iter().all(|form| Forms::ALL.has(*form) && !Forms::NONE.has(*form)));
    }
}
