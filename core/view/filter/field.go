package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind says which values a field has.
type Kind uint8

// The kinds of fields. A field of kind Any decides per row.
const (
	AnyKind Kind = iota
	BoolKind
	NumberKind
	TextKind
)

var kindWords = [...]string{"any", "true or false", "a number", "a text"}

// String gives the kind in words: "a number".
func (k Kind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return "any"
}

// A Field is a name that can stand in a filter.
type Field struct {
	Name    string   // letters, digits and underscores, with dots between parts; "row.…" is a hint for completion only
	Aliases []string // other names that mean the same; what is printed is Name
	Kind    Kind     // of the value, or of its elements when List is set
	List    bool     // the value is a list, of which one element must meet a condition
	Title   string   // one line with the unit: "latency in seconds"
	Values  func() []string
	Closed  bool // there are no other texts than Values, so another one is a mistake
}

// values gives the known texts of a field, none when it has no list of them.
func (f *Field) values() []string {
	if f.Values == nil {
		return nil
	}
	return f.Values()
}

// Fields are the names a filter may use.
type Fields []Field

func (fs Fields) find(name string) *Field {
	for i := range fs {
		if fs[i].Name == name || slices.Contains(fs[i].Aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// names lists every name that is no path.
func (fs Fields) names() []string {
	var list []string
	for i := range fs {
		if !strings.HasPrefix(fs[i].Name, rowWord+".") {
			list = append(append(list, fs[i].Name), fs[i].Aliases...)
		}
	}
	return list
}

// Check tells what is wrong with a list of fields: names that the language cannot read or that are there twice. It
// is for the test of whoever owns the list.
func (fs Fields) Check() error {
	var errs []error
	seen := map[string]bool{}
	for i := range fs {
		for _, name := range append([]string{fs[i].Name}, fs[i].Aliases...) {
			if seen[name] {
				errs = append(errs, fmt.Errorf("field %q: name is there twice", name))
			}
			seen[name] = true
			if strings.HasPrefix(name, rowWord+".") {
				if ref, err := ParsePath(name); err != nil || ref.Name != name {
					errs = append(errs, fmt.Errorf("field %q: not the usual form of a path", name))
				}
				continue
			}
			first, _, _ := strings.Cut(name, ".")
			if !dottedName(name) || first == rowWord || reserved(first) {
				errs = append(errs, fmt.Errorf("field %q: not a name", name))
			}
		}
		if fs[i].Title == "" {
			errs = append(errs, fmt.Errorf("field %q: no title", fs[i].Name))
		}
		if fs[i].Closed && fs[i].Values == nil {
			errs = append(errs, fmt.Errorf("field %q: closed without values", fs[i].Name))
		}
	}
	return errors.Join(errs...)
}

// rowWord begins a path into the row as it is in the file; "$" does the same.
const rowWord = "row"

// keywords have a meaning now.
var keywords = []string{"and", "or", "not", "in", "contains", "matches", "has", "any", "all", "count", "true", "false"}

// later words have none yet and are kept for versions that give them one.
var later = []string{"between", "exists", "is", "like", "none", "null"}

// reserved tells whether a word must be quoted to be a text. Letter case does not matter.
func reserved(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(keywords, word) || slices.Contains(later, word)
}

func dottedName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !plainName(part) {
			return false
		}
	}
	return true
}

// plainName tells whether s is letters, digits and underscores and begins with no digit.
func plainName(s string) bool {
	for i, r := range s {
		if !nameRune(r, i == 0) {
			return false
		}
	}
	return s != ""
}

func nameRune(r rune, first bool) bool {
	switch {
	case r == '_' || unicode.IsLetter(r):
		return true
	case r == utf8.RuneError:
		return false
	}
	return !first && (unicode.IsDigit(r) || unicode.IsMark(r))
}

// wordRune tells whether r can be in a text without quotes, where only a text can stand. Signs that are missing
// here are kept for later versions.
func wordRune(r rune) bool {
	return nameRune(r, false) || strings.ContainsRune("-./:@+#%", r)
}
