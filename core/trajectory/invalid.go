package trajectory

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// The classes of an invalid trajectory, as reports name them (spec health §5).
const (
	ClassValidation = "ValidationError" // the schema is violated
	ClassType       = "TypeError"       // the kind of a conversation item cannot even be looked up
	ClassValue      = "ValueError"      // the schema is kept, but a free value is nested too deep
)

// An Invalid says why a value is no trajectory. Of several reasons it has the one of the strongest class, and
// of those the first that was met.
type Invalid struct {
	Class  string // ClassValidation, ClassType or ClassValue
	Offset int    // of the offending value, in the text of the row
	Path   string // to that value from the trajectory, as a JSON pointer: /turns/3/answer
	Reason string // for people
}

// Error gives class, place and reason.
func (e *Invalid) Error() string {
	path := e.Path
	if path == "" {
		path = "the trajectory"
	}
	return e.Class + ": " + path + ": " + e.Reason
}

// fault is what will be an Invalid. Its place is only an offset, so that reading costs nothing for a path
// that is not needed.
type fault struct {
	class  string
	offset int
	reason string
}

// in makes the error of a trajectory.
func (f fault) in(trajectory jsonscan.Value) *Invalid {
	return &Invalid{Class: f.class, Offset: f.offset, Path: pointer(trajectory, f.offset), Reason: f.reason}
}

// bad notes a violation of the schema, which stays unless an item raises. It is always false.
func (r *Reader) bad(v jsonscan.Value, reason string) bool {
	if r.fault.class == "" {
		r.fault = fault{ClassValidation, v.Offset(), reason}
	}
	return false
}

// raises notes that looking up a conversation item fails, which wins over everything.
func (r *Reader) raises(v jsonscan.Value, reason string) {
	r.fault = fault{ClassType, v.Offset(), reason}
}

// tooDeep notes a free value beyond its limit, which counts only if the schema is kept.
func (r *Reader) tooDeep(v jsonscan.Value) {
	if r.deep == 0 {
		r.deep = v.Offset() + 1
	}
}

// oneOf names the words that would have been right.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// pointer finds the path from v to the value that begins at the offset.
func pointer(v jsonscan.Value, offset int) string {
	var path []byte
	for v.Offset() != offset {
		inner, found := jsonscan.Value{}, false
		m := v.Members()
		for m.Next() {
			if offset-m.Value.Offset() < m.Value.Len() {
				if found = offset >= m.Value.Offset(); found {
					inner = m.Value
					path = append(path, '/')
					for _, c := range m.Key {
						switch c {
						case '~':
							path = append(path, "~0"...)
						case '/':
							path = append(path, "~1"...)
						default:
							path = append(path, c)
						}
					}
				}
				break
			}
		}
		e := v.Elements()
		for i := 0; e.Next(); i++ {
			if offset-e.Value.Offset() < e.Value.Len() {
				if found = offset >= e.Value.Offset(); found {
					inner = e.Value
					path = strconv.AppendInt(append(path, '/'), int64(i), 10)
				}
				break
			}
		}
		if !found {
			break
		}
		v = inner
	}
	return string(path)
}
