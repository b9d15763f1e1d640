package atif

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// parse reads a text that must be sound.
func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Strict([]byte(text))
	if err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	return v
}

// set puts a JSON text at places like steps.1.message, one change after the other: path, text, path, text. The text "-"
// takes the key away; a position behind a list appends to it.
func set(t testing.TB, v value.Value, changes ...string) value.Value {
	t.Helper()
	for i := 0; i+1 < len(changes); i += 2 {
		to := value.Value{}
		if changes[i+1] != "-" {
			to = parse(t, changes[i+1])
		}
		v = put(v, strings.Split(changes[i], "."), to)
	}
	return v
}

func put(v value.Value, path []string, to value.Value) value.Value {
	if len(path) == 0 {
		return to
	}
	if v.IsObject() || !v.Exists() {
		if len(path) == 1 && !to.Exists() {
			return v.Without(path[0])
		}
		if !v.Exists() {
			v = value.Object()
		}
		return v.With(path[0], put(v.Get(path[0]), path[1:], to))
	}
	items := v.Items()
	n, _ := strconv.Atoi(path[0])
	if n == len(items) {
		items = append(items, value.Value{})
	}
	items[n] = put(items[n], path[1:], to)
	return value.List(items...)
}
