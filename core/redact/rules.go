package redact

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Action is what a rule does to values.
type Action uint8

// The actions.
const (
	Keep Action = iota
	Length
	Drop
)

var actions = [...]string{"keep", "length", "drop"}

// String gives the action's word.
func (a Action) String() string { return actions[a] }

// A Rule is an action and the path it holds for, as it was written.
type Rule struct {
	Action Action
	Path   string
	steps  []step
}

// A step is one level of a path.
type step struct {
	kind stepKind
	name string
}

type stepKind uint8

const (
	named stepKind = iota // this member, or the element of this number
	any1                  // any member or element
	deep                  // any number of levels
)

// Rules are in the order in which they were written.
type Rules []Rule

// mostSteps bounds the levels of a path, so that a set of places in it is one word.
const mostSteps = 60

// mostRules bounds how many there are: each of them is followed through every value.
const mostRules = 1000

// Parse reads rules. The error names the line.
func Parse(text string) (Rules, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the rules are no UTF-8")
	}
	var rules Rules
	for n, line := range strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		for _, part := range statements(line) {
			rule, err := parseRule(part)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			if len(rules) == mostRules {
				return nil, fmt.Errorf("line %d: more than %d rules", n+1, mostRules)
			}
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return nil, errors.New("there is no rule")
	}
	return rules, nil
}

// statements splits a line at semicolons and ends it at a comment, neither of them in quotes.
func statements(line string) (list []string) {
	from, quoted := 0, false
	add := func(to int) {
		if s := strings.TrimSpace(line[from:to]); s != "" {
			list = append(list, s)
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ';':
			add(i)
			from = i + 1
		case c == '#':
			add(i)
			return list
		}
	}
	add(len(line))
	return list
}

func parseRule(s string) (Rule, error) {
	word, path, _ := strings.Cut(s, " ")
	if tab := strings.IndexByte(word, '\t'); tab >= 0 {
		word, path = s[:tab], s[tab+1:]
	}
	path = strings.TrimSpace(path)
	for i, name := range actions {
		if word != name {
			continue
		}
		steps, err := parsePath(path)
		if err != nil {
			return Rule{}, fmt.Errorf("%s: %w", clipped(s), err)
		}
		return Rule{Action: Action(i), Path: path, steps: steps}, nil
	}
	return Rule{}, fmt.Errorf("%s: a rule begins with keep, length or drop", clipped(s))
}

// clipped is the beginning of a rule, for messages: a file that holds no rules may hold long lines.
func clipped(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func parsePath(path string) ([]step, error) {
	if path == "" {
		return nil, errors.New("a path is missing")
	}
	if rest, ok := strings.CutPrefix(path, "row"); ok && len(rest) > 1 && (rest[0] == '.' || rest[0] == '[') {
		path = strings.TrimPrefix(rest, ".")
	}
	var steps []step
	for {
		s, rest, err := parseStep(path)
		if err != nil {
			return nil, err
		}
		if n := len(steps); s.kind != deep || n == 0 || steps[n-1].kind != deep {
			steps = append(steps, s)
		}
		if rest == "" {
			break
		}
		if rest[0] == '[' {
			path = rest
			continue
		}
		if rest[0] != '.' {
			return nil, fmt.Errorf("%q stands where a dot is expected", clipped(rest))
		}
		path = rest[1:]
	}
	if len(steps) > mostSteps {
		return nil, fmt.Errorf("a path has at most %d levels", mostSteps)
	}
	return steps, nil
}

func parseStep(path string) (s step, rest string, err error) {
	bracket := strings.HasPrefix(path, "[")
	if bracket {
		path = path[1:]
	}
	if strings.HasPrefix(path, `"`) {
		quoted, err := strconv.QuotedPrefix(path)
		if err != nil {
			return s, "", errors.New("a name in quotes is not closed")
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return s, "", fmt.Errorf("%s is no name", clipped(quoted))
		}
		s, rest = step{named, name}, path[len(quoted):]
	} else {
		end := strings.IndexAny(path, ".[]\" \t")
		if end < 0 {
			end = len(path)
		}
		word := path[:end]
		rest = path[end:]
		switch {
		case word == "":
			return s, "", errors.New("a name is missing in the path")
		case word == "*":
			s.kind = any1
		case word == "**":
			s.kind = deep
		case strings.Contains(word, "*"):
			return s, "", fmt.Errorf("%s: * stands alone, or in a name in quotes", clipped(word))
		default:
			s = step{named, word}
		}
	}
	if bracket {
		if !strings.HasPrefix(rest, "]") {
			return s, "", errors.New("a bracket is not closed")
		}
		rest = rest[1:]
	}
	return s, rest, nil
}

// places is a set of places in a path: bit n means that n steps are behind.
type places uint64

// start is where a path begins.
func (r *Rule) start() places { return r.skip(1) }

// skip adds the places behind a ** that stands for no level.
func (r *Rule) skip(p places) places {
	for n, s := range r.steps {
		if s.kind == deep && p>>n&1 != 0 {
			p |= 1 << (n + 1)
		}
	}
	return p
}

// enter goes one level down, by the name of a member or the number of an element.
func (r *Rule) enter(p places, name []byte) places {
	var next places
	for n, s := range r.steps {
		if p>>n&1 == 0 {
			continue
		}
		switch {
		case s.kind == deep:
			next |= 1 << n
		case s.kind == any1, s.name == string(name):
			next |= 1 << (n + 1)
		}
	}
	return r.skip(next)
}

// met tells whether the whole path is behind.
func (r *Rule) met(p places) bool { return p>>len(r.steps)&1 != 0 }
