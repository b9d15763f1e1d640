package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web/bundle"
)

var errTooLarge = fmt.Errorf("this is more than one file carries (%s packed): name a directory behind -o, or fewer rows with --filter", view.Bytes(bundle.MaxSingle))

// single writes one HTML file.
func (b *bundler) single(k *bundle.Kit, output string) error {
	var blocks [][]byte
	size := 0
	index, id, err := b.pack(func(_ int, packed []byte) error {
		if size += len(packed); size > bundle.MaxSingle {
			return errTooLarge
		}
		blocks = append(blocks, bytes.Clone(packed))
		return nil
	})
	if err != nil {
		return err
	}
	d := bundle.Data{Index: index, ID: id, Blocks: len(blocks), Block: func(n int) ([]byte, error) { return blocks[n], nil }}
	written := int64(0)
	err = save(b.ctx, filepath.Dir(output), b.run.inputs, []product{{filepath.Base(output), func(w io.Writer) error {
		counted := &counter{w: w}
		err := k.WriteSingle(counted, d)
		written = counted.n
		return err
	}}})
	if err != nil {
		return err
	}
	return b.tell(output, written)
}

// folder writes a directory. Blocks are written aside and moved to their place when all are there; the document, which
// makes the bundle what people see, comes last.
func (b *bundler) folder(k *bundle.Kit, output string) (err error) {
	if err := named(output); err != nil {
		return err
	}
	if info, err := os.Stat(output); err == nil && !info.IsDir() {
		return fmt.Errorf("output %s is a file", output)
	}
	data := filepath.Join(output, "data")
	var made directories
	placed := "" // the data, while nothing opens it
	defer func() {
		if err != nil {
			if placed != "" {
				os.RemoveAll(placed)
			}
			made.remove()
		}
	}()
	if err := made.make(data); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	draft := filepath.Join(data, fmt.Sprintf(".%d.tmp", os.Getpid()))
	if err := os.Mkdir(draft, 0o777); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer os.RemoveAll(draft)
	size := int64(0)
	index, id, err := b.pack(func(n int, packed []byte) error {
		size += int64(len(packed))
		return os.WriteFile(filepath.Join(draft, pack.Zstd.Name(n)), packed, 0o666)
	})
	if err != nil {
		return err
	}
	files, err := k.FolderWith(bundle.Data{Index: index, ID: id, Size: size})
	if err != nil {
		return err
	}
	place := filepath.Join(output, filepath.FromSlash(pack.Folder(id)))
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		placed = place
	}
	if err := os.RemoveAll(place); err != nil { // the same bundle, perhaps damaged
		return fmt.Errorf("output: %w", err)
	}
	if err := os.Rename(draft, place); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	products, more := productsOf(files)
	if err := save(b.ctx, output, b.run.inputs, products); err != nil {
		return err
	}
	placed = ""
	for _, other := range otherVersions(output, id) {
		b.h.note("%s holds another version of a bundle in %s; the page opens the one that was written now", output, filepath.ToSlash(other))
	}
	return b.tell(output, size+more)
}

// otherVersions lists the folders of bundles in a directory that are not the one of an id.
func otherVersions(dir, id string) (list []string) {
	found, _ := filepath.Glob(filepath.Join(dir, "data", "*", pack.IndexName))
	for _, name := range found {
		if folder := filepath.Dir(name); filepath.Base(folder) != filepath.Base(pack.Folder(id)) {
			rest, err := filepath.Rel(dir, folder)
			if err == nil {
				list = append(list, rest)
			}
		}
	}
	return list
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// tell says what was written.
func (b *bundler) tell(output string, size int64) error {
	x := b.index
	rows := view.Group(x.Rows.Kept) + " of " + amount(int(x.Rows.Of), "row")
	words := fmt.Sprintf("%s: %s and %s in %s, %s", output, rows, amount(len(x.Files), "file"), amount(len(x.Blocks), "block"), view.Bytes(size))
	if len(x.Left) > 0 {
		words += "; left out " + amount(len(x.Left), "file")
	}
	_, err := fmt.Fprintln(b.h.err, safe(words))
	return err
}

// largestDocument bounds the document of a bundle, with the blocks of one file in it, and an index.
const largestDocument = 512 << 20

// readRegular reads a file whole that has at most so many bytes. What somebody has put in its place, such as a pipe, is
// not waited for.
func readRegular(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", name)
	case info.Size() > most:
		return nil, fmt.Errorf("%s is larger than any such file: %s", name, view.Bytes(info.Size()))
	}
	return os.ReadFile(name)
}

// mostDamages bounds how many damaged blocks a message lists.
const mostDamages = 20

// verifyBundle holds a bundle against its hashes.
func (h *host) verifyBundle(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	dir, document := filepath.Dir(name), name
	if info.IsDir() {
		dir, document = name, filepath.Join(name, "index.html")
	}
	text, err := readRegular(document, largestDocument)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	d, err := bundle.ReadDocument(text)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	var x *pack.Index
	index, block := d.Index, d.Block
	if d.Folder != "" {
		if !filepath.IsLocal(filepath.FromSlash(d.Folder)) {
			return fmt.Errorf("%s: the data lies outside of its directory, at %q", document, d.Folder)
		}
		folder := filepath.Join(dir, filepath.FromSlash(d.Folder))
		index = func() ([]byte, error) { return readRegular(filepath.Join(folder, pack.IndexName), largestDocument) }
		block = func(n int) ([]byte, error) {
			return readRegular(filepath.Join(folder, x.Codec.Name(n)), pack.MaxPacked)
		}
		for _, other := range otherVersions(dir, d.ID) {
			h.note("%s holds another version of a bundle in %s", dir, filepath.ToSlash(other))
		}
	}
	indexText, err := index()
	if err != nil {
		return fmt.Errorf("%s: the index of the bundle: %w", document, err)
	}
	if x, err = pack.Parse(indexText, d.ID); err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	if errs := pack.NewReader(x, block).Verify(); len(errs) > 0 {
		said, more := errs, ""
		if len(errs) > mostDamages {
			said, more = errs[:mostDamages], fmt.Sprintf("\nand %s more", view.Group(int64(len(errs)-mostDamages)))
		}
		return fmt.Errorf("%s: %s damaged\n%w%s", document, amount(len(errs), "block"), errors.Join(said...), more)
	}
	_, err = fmt.Fprintf(h.out, "%s: whole, made %s by %s, %s of %s, %s, %s, SHA-256 of the index %s\n", safe(name), safe(x.Made), safe(x.By),
		view.Group(x.Rows.Kept), amount(int(x.Rows.Of), "row"), amount(len(x.Files), "file"), amount(len(x.Blocks), "block"), x.ID())
	return err
}
