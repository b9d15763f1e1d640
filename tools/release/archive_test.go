package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"
)

// Archives hold what was put in, programs can be run, and the same files give the same bytes wherever they are packed.
func TestArchives(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := []entry{{"x/rollscope", []byte("program"), true}, {"x/LICENSE", bytes.Repeat([]byte("text "), 1000), false}}
	for name, write := range map[string]func(io.Writer, []entry, time.Time) error{"tar": tarball, "zip": zipped} {
		var one, two bytes.Buffer
		if err := write(&one, files, when); err != nil {
			t.Fatal(err)
		}
		if err := write(&two, files, when.In(time.FixedZone("elsewhere", 3600))); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: another time zone gives other bytes", name)
		}
		read := untar
		if name == "zip" {
			read = unzip
		}
		list := read(t, one.Bytes())
		if len(list) != len(files) {
			t.Fatalf("%s: %d files", name, len(list))
		}
		for i, got := range list {
			if want := files[i]; got.name != want.name || !bytes.Equal(got.body, want.body) || got.runs != want.runs {
				t.Errorf("%s: %s, program %v, %d bytes", name, got.name, got.runs, len(got.body))
			}
		}
	}
}

func untar(t *testing.T, text []byte) (list []entry) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entry{h.Name, body, h.Mode&0o111 != 0})
	}
}

func unzip(t *testing.T, text []byte) (list []entry) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entry{f.Name, body, f.Mode()&0o111 != 0})
	}
	return list
}
