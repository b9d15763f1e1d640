package atif

import (
	"bytes"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// FuzzCheck reads documents of any content. What is valid for Gym is written and read back as the same, and what can be
// imported has an output.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(document))
	f.Add(readCase(f, "trajectory.json"))
	f.Add(readCase(f, "future.json"))
	f.Add([]byte(`{"steps":[{"message":[{"type":"audio","source":{"media_type":"audio/mp3","duration_sec":"1"}}]},null],"agent":{},"subagent_trajectories":[{"steps":[]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, list := Check(text, "d/0-0.json", func(name string) bool { return len(name)%2 == 0 })
		for _, one := range list {
			if one.Message() == "" {
				t.Errorf("%+v", one)
			}
		}
		doc, err := Strict(text)
		if err != nil {
			if v.Gym || v.Importable {
				t.Errorf("%+v without being read", v)
			}
			return
		}
		d := View(doc)
		d.Models()
		again, err := Strict(Text(doc))
		if err != nil || !value.Equal(again, doc) {
			t.Errorf("%s: %v", Text(doc), err)
		}
		if !v.Gym {
			return
		}
		if len(Problems(doc, Harbor)) == 0 != v.Harbor || ContentHash(doc) != ContentHash(again) {
			t.Errorf("%+v", v)
		}
		im, err := Import(doc, value.Null)
		if (err == nil) != v.Importable {
			t.Errorf("%+v %v", v, err)
		}
		if err == nil && im.Response.Get("output").Len() == 0 {
			t.Errorf("%s", im.Response)
		}
	})
}

// FuzzRow exports rows of any content. What is exported is valid and can be imported again, unless its models differ.
func FuzzRow(f *testing.F) {
	f.Add([]byte(exampleRow))
	f.Add(bytes.ReplaceAll([]byte(toolRow), []byte("\n"), nil))
	f.Fuzz(func(t *testing.T, row []byte) {
		doc, from, err := exporter().Row(row)
		if err != nil {
			return
		}
		for _, p := range []Profile{Gym, Harbor} {
			if list := Problems(doc, p); len(list) > 0 {
				t.Errorf("%s: %v\n%s", p, list, Text(doc))
			}
		}
		text := Text(doc)
		again, err := Strict(text)
		if err != nil {
			t.Fatalf("%s: %s", err, text)
		}
		if !value.Equal(again, doc) || from.FileName() == "" {
			t.Errorf("%s", text)
		}
		if v, list := Check(text, from.FileName(), nil); !v.Gym || len(list) > 1 {
			t.Errorf("%+v: %v", v, list)
		}
	})
}
