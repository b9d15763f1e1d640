package view

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/verify"
)

// auditAll has the desk compare its files, as a host does. It tells how often bytes were asked for.
func auditAll(t testing.TB, d *Desk, data map[string][]byte) (asked int) {
	t.Helper()
	again := 0
	for range 100_000 {
		needs, done := d.Audit()
		if done {
			return asked
		}
		if again++; len(needs) == 0 {
			again = 0
		}
		if again > 2 {
			t.Fatal("one stretch of the audit needs bytes again and again")
		}
		for _, n := range needs {
			asked++
			b := data[d.files[n.File].Path]
			if n.Offset+n.Length > int64(len(b)) {
				d.Supply(n, nil, "it vanished")
				continue
			}
			d.Supply(n, bytes.Clone(b[n.Offset:n.Offset+n.Length]), "")
		}
	}
	t.Fatal("the audit goes on and on")
	return asked
}

// folder reads the files of a directory.
func folder(t testing.TB, dir string) (files []runfolder.File, data map[string][]byte) {
	t.Helper()
	data = map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(dir), p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		data[name] = b
		files = append(files, runfolder.File{Path: name, Size: int64(len(b))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, data
}

// TestAudit compares what a desk finds out about the files of a run with what the verification of the folder finds,
// when the rows come from their scan and the rest in pieces.
func TestAudit(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/runs/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err)
	}
	runs := 0
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		runs++
		files, data := folder(t, dir)
		d := openDesk(t, files, data)
		if d.AuditPending() {
			t.Fatalf("%s: the audit is not done", dir)
		}
		var list []verify.File
		for i, f := range files {
			name := d.listing.Entries[i].Name
			list = append(list, verify.File{Path: name, Source: source.Bytes(name, data[f.Path])})
		}
		sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
		want, err := verify.Run(context.Background(), list, verify.Options{Observe: true})
		if err != nil {
			t.Fatal(err)
		}
		if d.audited.failed != nil {
			t.Fatalf("%s: %v", dir, d.audited.failed)
		}
		var a, b bytes.Buffer
		for _, err := range []error{d.audited.report.WriteVerify(&a), want.WriteVerify(&b), d.audited.report.WriteCoverage(&a), want.WriteCoverage(&b)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s:\n%s\nwant\n%s", dir, a.Bytes(), b.Bytes())
		}
	}
	if runs < 20 {
		t.Errorf("%d runs", runs)
	}
}

// TestAuditLeft has the files change while they are compared, and one of them vanish.
func TestAuditLeft(t *testing.T) {
	files, data := folder(t, "../../testdata/runs/01-sound/run")
	d := openDesk(t, files, data)
	d.audited.close()
	d.audited = nil
	if needs, done := d.Audit(); len(needs) == 0 || done {
		t.Fatalf("%v %v", needs, done)
	}
	again, _ := d.Audit()
	d.Open([]runfolder.File{{Path: "more.json", Size: 2}}, true)
	if len(again) != 1 || d.AuditPending() != d.table.Complete() {
		t.Error("the audit of other files goes on")
	}
	data = map[string][]byte{"more.json": []byte("{}")}
	auditAll(t, d, data)
	if d.audited.failed == nil || d.audited.report != nil {
		t.Errorf("a vanished file: %v", d.audited.failed)
	}
}

// TestAuditOnce counts the bytes that an audit asks for: those of sidecars once, though the verification and the scores
// both read them, and of rollouts files none.
func TestAuditOnce(t *testing.T) {
	files, data := folder(t, "../../testdata/runs/01-sound/run")
	d := openDesk(t, files, data)
	d.audited.close()
	d.audited = nil
	asked := map[int]int64{}
	for {
		needs, done := d.Audit()
		if done {
			break
		}
		for _, n := range needs {
			asked[n.File] += n.Length
			d.Supply(n, bytes.Clone(data[files[n.File].Path][n.Offset:n.Offset+n.Length]), "")
		}
	}
	sidecars := 0
	for i, e := range d.listing.Entries {
		switch {
		case sidecarMapper(e.Kind) != nil:
			if sidecars++; asked[i] != e.Size || d.audited.sides[i].rows.Rows() == 0 {
				t.Errorf("%s: %d of %d bytes, %d rows", e.Name, asked[i], e.Size, d.audited.sides[i].rows.Rows())
			}
		case slices.Contains(d.sources, i) && asked[i] > 0:
			t.Errorf("%s: %d bytes of rows that were scanned", e.Name, asked[i])
		}
	}
	if sidecars != 2 {
		t.Errorf("%d sidecars", sidecars)
	}
}
