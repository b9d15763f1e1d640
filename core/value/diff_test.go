package value

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiffer(t *testing.T) {
	for _, tt := range []struct {
		a, b   string
		absent bool
		want   string
	}{
		{`{"a":1,"b":[1,2]}`, `{"b":[1.0,2],"a":true}`, false, ""},
		{`{"a":1}`, `{"a":1,"b":null}`, false, "b absent null"},
		{`{"a":1}`, `{"a":1,"b":null}`, true, ""},
		{`{"a":[{"x":1},2]}`, `{"a":[{"x":2},2,3]}`, false, "a[0].x 1 2; a[2] absent 3"},
		{`{"a":null}`, `{"a":{}}`, true, "a null {}"},
		{`[]`, `{}`, false, " [] {}"},
	} {
		a, _ := Strict([]byte(tt.a))
		b, _ := Strict([]byte(tt.b))
		d := Differ{NullIsAbsent: tt.absent}
		d.Compare("", a, b)
		var parts []string
		for _, one := range d.List {
			show := func(v Value) string {
				if !v.Exists() {
					return "absent"
				}
				return v.String()
			}
			parts = append(parts, fmt.Sprintf("%s %s %s", one.Path, show(one.A), show(one.B)))
		}
		if got := strings.Join(parts, "; "); got != tt.want || d.Count != len(d.List) {
			t.Errorf("%s, %s: %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
	a, _ := Strict([]byte(`[1,2,3]`))
	b, _ := Strict([]byte(`[3,2,1]`))
	d := Differ{Most: 1}
	d.Compare("x", a, b)
	if d.Count != 2 || len(d.List) != 1 || d.List[0].Path != "x[0]" {
		t.Errorf("%+v", d)
	}
	if s := Short(Text(strings.Repeat("é", 100))); !strings.HasSuffix(s.String(), `é…"`) {
		t.Error(s)
	}
}
