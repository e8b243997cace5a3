//! Parser of expression texts. The syntax tree has names and placeholders as written.
//!
//! Nodes are in one arena and refer to each other by index, children before parents. So neither the
//! parser nor the tree recurses, however deep the parentheses of a text are.

use crate::expr::CompareOp;
use crate::expr::lexer::{Keyword, Token, TokenKind, tokens};
use crate::expr::{ExpressionKind, ExpressionProblem};
use crate::limits;

/// Index of a node in [`Syntax::nodes`].
pub(crate) type NodeId = usize;

/// Node of the syntax tree. A `Sum` with `minus` is a difference.
#[derive(Debug)]
pub(crate) enum Node<'t> {
    Path(Vec<Part<'t>>),
    Value(&'t str),
    Call { name: &'t str, arguments: Vec<NodeId> },
    Compare { op: CompareOp, left: NodeId, right: NodeId },
    Between { value: NodeId, low: NodeId, high: NodeId },
    In { value: NodeId, list: Vec<NodeId> },
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Not(NodeId),
    Sum { minus: bool, left: NodeId, right: NodeId },
}

/// Element of a path, as written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'t> {
    /// Literal attribute name.
    Bare(&'t str),
    /// Placeholder of a name, `#name`.
    Alias(&'t str),
    /// List index as digits, `[12]`.
    Index(&'t str),
}

/// Name, list index or function call, which is checked before operands, in the order of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mention<'t> {
    /// Literal attribute name, which may be reserved.
    Bare(&'t str),
    /// List index, which may be out of range.
    Index(&'t str),
    /// Function call and its context.
    Call { name: &'t str, place: ExprContext },
}

/// Context of a function call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ExprContext {
    /// A whole condition, or the whole right side of a `SET`.
    Top,
    /// An operand of an operator or of another function.
    Operand,
}

/// Action of an update, such as one assignment of a `SET` section.
#[derive(Debug)]
pub(crate) enum UpdateClause<'t> {
    Set(NodeId, NodeId),
    Remove(NodeId),
    Add(NodeId, &'t str),
    Delete(NodeId, &'t str),
}

/// Syntax tree of a parsed text.
#[derive(Debug, Default)]
pub(crate) struct Syntax<'t> {
    pub(crate) nodes: Vec<Node<'t>>,
    pub(crate) mentions: Vec<Mention<'t>>,
    /// Number of operators and functions, as DynamoDB counts them; at most 300 are valid.
    pub(crate) operators: usize,
}

/// Parser of the tokens of one text.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
    syntax: Syntax<'t>,
    /// Whether a node has parentheses around it, by node.
    wrapped: Vec<bool>,
    /// Index of a call's mention, by node; `None` for other nodes.
    calls: Vec<Option<usize>>,
}

/// Construct that encloses the operand being parsed.
enum Open<'t> {
    Parenthesis,
    Call { name: &'t str, mention: usize, arguments: Vec<NodeId> },
}

/// Construct that waits for the condition being parsed.
enum Pending {
    Parenthesis,
    Not,
    And(NodeId),
    Or(NodeId),
}

impl<'t> Parser<'t> {
    /// Creates a parser of a text of 1 to [`limits::EXPRESSION_BYTES`] bytes.
    pub(crate) fn new(kind: ExpressionKind, text: &'t str) -> Result<Self, ExpressionProblem> {
        if text.is_empty() {
            return Err(ExpressionProblem::new("The expression can not be empty;"));
        }
        if text.len() > limits::EXPRESSION_BYTES {
            let mut message = "Expression size has exceeded the maximum allowed size;".to_owned();
            // For updates and projections, DynamoDB's message does not have the size.
            if !matches!(kind, ExpressionKind::Update | ExpressionKind::Projection) {
                message.push_str(&format!(" expression size: {}", text.len()));
            }
            return Err(ExpressionProblem::new(message));
        }
        Ok(Self {
            text,
            tokens: tokens(text),
            next: 0,
            syntax: Syntax::default(),
            wrapped: Vec::new(),
            calls: Vec::new(),
        })
    }

    /// Parses the whole text as a condition; returns its syntax and the root node.
    pub(crate) fn condition(mut self) -> Result<(Syntax<'t>, NodeId), ExpressionProblem> {
        let mut pending: Vec<Pending> = Vec::new();
        loop {
            if self.take_keyword(Keyword::Not) {
                pending.push(Pending::Not);
                continue;
            }
            if self.take_symbol("(") {
                pending.push(Pending::Parenthesis);
                continue;
            }
            let mut operand = self.operand()?;
            // Parentheses directly around an operand belong to it: `(a) = :v`.
            let condition = loop {
                if let Some(condition) = self.comparison(operand)? {
                    break condition;
                }
                if let Some(mention) = self.calls[operand] {
                    self.place(mention, ExprContext::Top);
                    break operand;
                }
                match pending.last() {
                    Some(Pending::Parenthesis) if self.take_symbol(")") => {
                        pending.pop();
                        operand = self.wrap(operand)?;
                    }
                    _ => return Err(self.unexpected()),
                }
            };
            let Some(top) = self.after_condition(condition, &mut pending)? else { continue };
            return Ok((self.syntax, top));
        }
    }

    /// Parses the tokens after a condition: closing parentheses, then a connective (`None`) or the
    /// end, which returns the root.
    fn after_condition(
        &mut self,
        mut condition: NodeId,
        pending: &mut Vec<Pending>,
    ) -> Result<Option<NodeId>, ExpressionProblem> {
        loop {
            while let Some(Pending::Not) = pending.last() {
                pending.pop();
                condition = self.operator(Node::Not(condition));
            }
            if self.take_keyword(Keyword::And) {
                condition = self.join(condition, pending, Keyword::And);
                pending.push(Pending::And(condition));
                return Ok(None);
            }
            if self.take_keyword(Keyword::Or) {
                condition = self.join(condition, pending, Keyword::Or);
                pending.push(Pending::Or(condition));
                return Ok(None);
            }
            let closing = self.peek().is_symbol(")");
            if !closing && self.peek().kind != TokenKind::End {
                return Err(self.unexpected());
            }
            // A call in parentheses can still be an operand: `(size(a)) > :v`.
            let alone = matches!(pending.last(), Some(Pending::Parenthesis));
            condition = self.join(condition, pending, Keyword::Or);
            match (pending.pop(), closing) {
                (None, false) => return Ok(Some(condition)),
                (Some(Pending::Parenthesis), true) => {
                    self.next += 1;
                    condition = self.wrap(condition)?;
                    if alone
                        && self.calls[condition].is_some()
                        && let Some(compared) = self.comparison(condition)?
                    {
                        condition = compared;
                    }
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Joins the pending conditions on the left that bind at least as tightly.
    fn join(&mut self, mut right: NodeId, pending: &mut Vec<Pending>, before: Keyword) -> NodeId {
        loop {
            right = match pending.last() {
                Some(Pending::And(left)) => {
                    let left = *left;
                    self.operator(Node::And(left, right))
                }
                Some(Pending::Or(left)) if before == Keyword::Or => {
                    let left = *left;
                    self.operator(Node::Or(left, right))
                }
                _ => return right,
            };
            pending.pop();
        }
    }

    /// Parses a comparison if an operator follows its left operand.
    fn comparison(&mut self, left: NodeId) -> Result<Option<NodeId>, ExpressionProblem> {
        let token = self.peek();
        let node = if let Some(op) = compare_op(token) {
            self.next += 1;
            let right = self.operand()?;
            Node::Compare { op, left, right }
        } else if self.take_keyword(Keyword::Between) {
            let low = self.operand()?;
            if !self.take_keyword(Keyword::And) {
                return Err(self.unexpected());
            }
            let high = self.operand()?;
            Node::Between { value: left, low, high }
        } else if self.take_keyword(Keyword::In) {
            self.expect_symbol("(")?;
            let mut list = vec![self.operand()?];
            while self.take_symbol(",") {
                list.push(self.operand()?);
            }
            self.expect_symbol(")")?;
            Node::In { value: left, list }
        } else {
            return Ok(None);
        };
        if let Some(mention) = self.calls[left] {
            self.place(mention, ExprContext::Operand);
        }
        Ok(Some(self.operator(node)))
    }

    /// Parses a path, a value or a function call, in optional parentheses.
    fn operand(&mut self) -> Result<NodeId, ExpressionProblem> {
        let mut open: Vec<Open<'t>> = Vec::new();
        loop {
            if self.take_symbol("(") {
                open.push(Open::Parenthesis);
                continue;
            }
            let token = self.peek();
            let mut node = match token.kind {
                TokenKind::Identifier if self.tokens[self.next + 1].is_symbol("(") => {
                    self.next += 2;
                    let mention = self.syntax.mentions.len();
                    self.syntax
                        .mentions
                        .push(Mention::Call { name: token.text, place: ExprContext::Operand });
                    open.push(Open::Call { name: token.text, mention, arguments: Vec::new() });
                    continue;
                }
                TokenKind::Value => {
                    self.next += 1;
                    self.push(Node::Value(token.text))
                }
                _ => self.path()?,
            };
            loop {
                match open.pop() {
                    None => return Ok(node),
                    Some(Open::Parenthesis) => {
                        self.expect_symbol(")")?;
                        node = self.wrap(node)?;
                    }
                    Some(Open::Call { name, mention, mut arguments }) => {
                        arguments.push(node);
                        if self.take_symbol(",") {
                            open.push(Open::Call { name, mention, arguments });
                            break;
                        }
                        self.expect_symbol(")")?;
                        node = self.operator(Node::Call { name, arguments });
                        self.calls[node] = Some(mention);
                    }
                }
            }
        }
    }

    /// Parses a document path.
    fn path(&mut self) -> Result<NodeId, ExpressionProblem> {
        let mut parts = vec![self.name()?];
        loop {
            if self.take_symbol(".") {
                parts.push(self.name()?);
            } else if self.take_symbol("[") {
                let token = self.peek();
                if token.kind != TokenKind::Integer {
                    return Err(self.unexpected());
                }
                self.next += 1;
                self.expect_symbol("]")?;
                self.syntax.mentions.push(Mention::Index(token.text));
                parts.push(Part::Index(token.text));
            } else {
                return Ok(self.push(Node::Path(parts)));
            }
        }
    }

    fn name(&mut self) -> Result<Part<'t>, ExpressionProblem> {
        let token = self.peek();
        let part = match token.kind {
            TokenKind::Identifier => {
                self.syntax.mentions.push(Mention::Bare(token.text));
                Part::Bare(token.text)
            }
            TokenKind::Name => Part::Alias(token.text),
            _ => return Err(self.unexpected()),
        };
        self.next += 1;
        Ok(part)
    }

    /// Parses the whole text as a projection; returns its syntax and the nodes of its paths.
    pub(crate) fn projection(mut self) -> Result<(Syntax<'t>, Vec<NodeId>), ExpressionProblem> {
        let mut paths = vec![self.path()?];
        while self.take_symbol(",") {
            paths.push(self.path()?);
        }
        self.expect_end()?;
        Ok((self.syntax, paths))
    }

    /// Parses the whole text as an update; returns its syntax, its actions and the keywords of its
    /// sections, both in order.
    pub(crate) fn update(
        mut self,
    ) -> Result<(Syntax<'t>, Vec<UpdateClause<'t>>, Vec<Keyword>), ExpressionProblem> {
        let mut actions = Vec::new();
        let mut sections = Vec::new();
        loop {
            let section = match self.peek().kind {
                TokenKind::Keyword(
                    keyword @ (Keyword::Set | Keyword::Remove | Keyword::Add | Keyword::Delete),
                ) => keyword,
                TokenKind::End if !sections.is_empty() => {
                    return Ok((self.syntax, actions, sections));
                }
                _ => return Err(self.unexpected()),
            };
            self.next += 1;
            sections.push(section);
            loop {
                actions.push(self.action(section)?);
                if !self.take_symbol(",") {
                    break;
                }
            }
        }
    }

    fn action(&mut self, section: Keyword) -> Result<UpdateClause<'t>, ExpressionProblem> {
        let path = self.path()?;
        match section {
            Keyword::Remove => Ok(UpdateClause::Remove(path)),
            Keyword::Add => Ok(UpdateClause::Add(path, self.value()?)),
            Keyword::Delete => Ok(UpdateClause::Delete(path, self.value()?)),
            _ => {
                self.expect_symbol("=")?;
                Ok(UpdateClause::Set(path, self.set_value()?))
            }
        }
    }

    fn value(&mut self) -> Result<&'t str, ExpressionProblem> {
        let token = self.peek();
        if token.kind != TokenKind::Value {
            return Err(self.unexpected());
        }
        self.next += 1;
        Ok(token.text)
    }

    /// Parses an operand, or a sum or difference of two, in optional parentheses.
    fn set_value(&mut self) -> Result<NodeId, ExpressionProblem> {
        let mut parentheses = 0usize;
        while self.take_symbol("(") {
            parentheses += 1;
        }
        let mut node = self.operand()?;
        let mut summed = false;
        loop {
            let token = self.peek();
            if !summed && (token.is_symbol("+") || token.is_symbol("-")) {
                self.next += 1;
                summed = true;
                let right = self.operand()?;
                node = self.operator(Node::Sum { minus: token.text == "-", left: node, right });
            } else if parentheses > 0 {
                self.expect_symbol(")")?;
                parentheses -= 1;
                node = self.wrap(node)?;
            } else {
                break;
            }
        }
        if let Some(mention) = self.calls[node] {
            self.place(mention, ExprContext::Top);
        }
        Ok(node)
    }

    fn push(&mut self, node: Node<'t>) -> NodeId {
        self.syntax.nodes.push(node);
        self.wrapped.push(false);
        self.calls.push(None);
        self.syntax.nodes.len() - 1
    }

    fn operator(&mut self, node: Node<'t>) -> NodeId {
        self.syntax.operators += 1;
        self.push(node)
    }

    /// Records the parentheses around a node, which may have one pair only.
    fn wrap(&mut self, node: NodeId) -> Result<NodeId, ExpressionProblem> {
        if std::mem::replace(&mut self.wrapped[node], true) {
            return Err(ExpressionProblem::new("The expression has redundant parentheses;"));
        }
        Ok(node)
    }

    fn place(&mut self, mention: usize, to: ExprContext) {
        if let Mention::Call { place, .. } = &mut self.syntax.mentions[mention] {
            *place = to;
        }
    }

    fn peek(&self) -> Token<'t> {
        self.tokens[self.next]
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.peek().is_symbol(symbol);
        self.next += usize::from(found);
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.peek().is_keyword(keyword);
        self.next += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<(), ExpressionProblem> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_end(&mut self) -> Result<(), ExpressionProblem> {
        if self.peek().kind == TokenKind::End { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Error for an unexpected token, with the text from the token before it to the one after.
    fn unexpected(&self) -> ExpressionProblem {
        let token = self.peek();
        let from = self.next.checked_sub(1).map_or(0, |before| self.tokens[before].start);
        let to = self.tokens.get(self.next + 1).map_or(self.text.len(), Token::end);
        let shown = if token.kind == TokenKind::End { "<EOF>" } else { token.text };
        ExpressionProblem::new(format!(
            "Syntax error; token: \"{shown}\", near: \"{}\"",
            &self.text[from..to]
        ))
    }
}

fn compare_op(token: Token<'_>) -> Option<CompareOp> {
    if token.kind != TokenKind::Symbol {
        return None;
    }
    Some(match token.text {
        "=" => CompareOp::Eq,
        "<>" => CompareOp::Ne,
        "<" => CompareOp::Lt,
        "<=" => CompareOp::Le,
        ">" => CompareOp::Gt,
        ">=" => CompareOp::Ge,
        _ => return None,
    })
}
