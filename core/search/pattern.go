package search

import (
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// Options say what is looked for, and where.
type Options struct {
	Pattern string
	Literal bool // the pattern is a text; else a regular expression as Go has them, of which ^ and $ are ends of lines
	Fold    bool // letter case does not count

	All   bool   // look into all strings of a row, not only into what is said
	Under string // JSON pointer: look into the strings at and below it alone
	Parts Parts  // look into these parts of what is said alone; 0 for all

	Context int // characters of the line on either side of a hit, at most; 0 for [DefaultContext]
	Keep    int // hits of a row that an answer has, at most; 0 for [DefaultKeep]
}

// The defaults of Options, and the bounds.
const (
	DefaultContext = 60
	DefaultKeep    = 5
	MaxContext     = 10_000
	MaxKeep        = 1000
	MaxPattern     = 10_000 // bytes
)

// A Search is a pattern that is looked for. It never changes, and everybody may use it at once.
type Search struct {
	options Options
	literal string
	folds   []rune // of the literal, each folded
	lead    int    // how many of them stand in front of the run that is looked for
	re      *regexp.Regexp

	needles []needle // a row without any of them has no hit; none if there is nothing to go by
	finders sync.Pool
}

// ErrPattern means that a pattern cannot be looked for.
var ErrPattern = errors.New("pattern")

// New prepares a search. The error is an [ErrPattern].
func New(o Options) (*Search, error) {
	switch {
	case o.Pattern == "":
		return nil, fmt.Errorf("%w: it is empty", ErrPattern)
	case len(o.Pattern) > MaxPattern:
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrPattern, MaxPattern)
	case !utf8.ValidString(o.Pattern):
		return nil, fmt.Errorf("%w: it is not UTF-8, and texts of rows are", ErrPattern)
	}
	if o.Context <= 0 {
		o.Context = DefaultContext
	}
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	o.Context, o.Keep = min(o.Context, MaxContext), min(o.Keep, MaxKeep)
	s := &Search{options: o}
	if !o.Literal {
		flags := syntax.Perl &^ syntax.OneLine
		if o.Fold {
			flags |= syntax.FoldCase
		}
		tree, err := syntax.Parse(o.Pattern, flags)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPattern, err)
		}
		if Steps(tree) > MaxSteps {
			return nil, fmt.Errorf("%w: the regular expression is too large: its repetitions multiply", ErrPattern)
		}
		if text, fold, ok := plain(tree); ok {
			o.Literal, o.Pattern, o.Fold = true, text, fold
		} else {
			mode := "(?m)"
			if o.Fold {
				mode = "(?mi)"
			}
			if s.re, err = regexp.Compile(mode + o.Pattern); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrPattern, err)
			}
			for _, l := range required(tree) {
				s.needles = append(s.needles, needleOf(l.text, l.fold))
			}
			return s, nil
		}
	}
	s.literal = o.Pattern
	s.needles = []needle{needleOf(o.Pattern, o.Fold)}
	if o.Fold {
		for _, r := range o.Pattern {
			s.folds = append(s.folds, fold(r))
		}
		// A run that holds this one would have been preferred, so its first place is its own.
		before, _, _ := strings.Cut(string(lower([]byte(o.Pattern))), string(s.needles[0].run))
		s.lead = utf8.RuneCountInString(before)
	}
	return s, nil
}

// Mistake tells what is wrong with a pattern that [New] has refused, and which of its bytes are meant: those in
// [from, to), none where it is the pattern as a whole.
func Mistake(pattern string, err error) (message string, from, to int) {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return strings.TrimPrefix(err.Error(), ErrPattern.Error()+": "), 0, 0
	}
	at := strings.LastIndex(pattern, wrong.Expr)
	switch {
	case wrong.Code == syntax.ErrMissingParen || wrong.Code == syntax.ErrUnexpectedParen:
		from, to = lonely(pattern)
	case wrong.Expr != "" && at >= 0:
		from, to = at, at+len(wrong.Expr)
	}
	return wrong.Code.String(), from, to
}

// lonely is the place of a parenthesis of an expression that has no other.
func lonely(pattern string) (from, to int) {
	var open []int
	class := -1 // where a character class has begun
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class >= 0:
			if c == ']' && i > class+1 && pattern[class+1:i] != "^" {
				class = -1
			}
		case c == '[':
			class = i
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) == 0:
			return i, i + 1
		case c == ')':
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0, 0
	}
	last := open[len(open)-1]
	return last, last + 1
}

// plain tells whether an expression stands for one text and nothing else.
func plain(re *syntax.Regexp) (text string, fold, ok bool) {
	if re.Op != syntax.OpLiteral || len(re.Rune) == 0 {
		return "", false, false
	}
	return string(re.Rune), re.Flags&syntax.FoldCase != 0, true
}

// A required literal stands in every match of an expression, if it is the only one; of several, one does.
type requiredLiteral struct {
	text string
	fold bool
}

// mostLiterals bounds the literals of which a match has one.
const mostLiterals = 8

// required gives literals of which every match has at least one, nil if there are none to go by.
func required(re *syntax.Regexp) []requiredLiteral {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) > 0 {
			return []requiredLiteral{{string(re.Rune), re.Flags&syntax.FoldCase != 0}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []requiredLiteral
		for _, sub := range re.Sub {
			if list := required(sub); list != nil && (best == nil || worth(list) > worth(best)) {
				best = list
			}
		}
		return best
	case syntax.OpAlternate:
		var all []requiredLiteral
		for _, sub := range re.Sub {
			list := required(sub)
			if list == nil || len(all)+len(list) > mostLiterals {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

// worth tells how much a list of literals narrows down: as much as the worst of them.
func worth(list []requiredLiteral) int {
	least := 0
	for i, l := range list {
		n := needleOf(l.text, l.fold)
		w := 1
		switch {
		case n.run != nil:
			w = 2 + 4*min(len(n.run), 12) + rarity(n.run[n.rare])/4
		case n.forms != nil:
			w = 10
		}
		if i == 0 || w < least {
			least = w
		}
	}
	return least - 10*max(len(list)-1, 0)
}

// Could tells whether a line may have a hit, by its bytes as they are.
func (s *Search) Could(line []byte) bool {
	for i := range s.needles {
		if s.needles[i].in(line) {
			return true
		}
	}
	return len(s.needles) == 0
}

// Options are those that the search was made of, with the defaults filled in. A regular expression that is but a text
// has become one.
func (s *Search) Options() Options { return s.options }

// Number tells searches apart; equal ones have the same. It is never 0.
func (s *Search) Number() uint64 {
	h := fnv.New64a()
	o := s.options
	fmt.Fprintf(h, "%q %t %t %t %q %d %d %d", o.Pattern, o.Literal, o.Fold, o.All, o.Under, o.Parts, o.Context, o.Keep)
	return max(h.Sum64(), 1)
}

// String gives the pattern, for messages.
func (s *Search) String() string { return strings.ToValidUTF8(s.options.Pattern, "\uFFFD") }
