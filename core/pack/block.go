package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// blockSize is how many plain bytes a block has at least, unless it is the last.
const blockSize = 1 << 20

// A Writer cuts files into blocks.
type Writer struct {
	cutOff func(n int, plain []byte) error
	buf    []byte
	files  []File
	blocks []Block
	total  int64
	err    error
}

// NewCutter makes a Writer that hands over block after block as plain bytes, for hosts that pack by themselves and say
// by [Writer.Packed] what came of it. cut must not keep the bytes.
func NewCutter(cut func(n int, plain []byte) error) *Writer { return &Writer{cutOff: cut} }

// Packed notes the packed form of a block.
func (w *Writer) Packed(n int, packed []byte) error {
	if n < 0 || n >= len(w.blocks) {
		return errors.New("there is no such block")
	}
	if len(packed) < 1 || len(packed) > MaxPacked {
		return errors.New("a packed block has no possible size")
	}
	sum := sha256.Sum256(packed)
	w.blocks[n].Packed, w.blocks[n].SHA256 = int64(len(packed)), hex.EncodeToString(sum[:])
	return nil
}

// Begin begins a file.
func (w *Writer) Begin(path string) { w.files = append(w.files, File{Path: path, At: w.total}) }

// Write adds bytes to the file that was begun last.
func (w *Writer) Write(b []byte) (int, error) {
	if len(w.files) == 0 {
		return 0, errors.New("no file was begun")
	}
	w.files[len(w.files)-1].Size += int64(len(b))
	w.total += int64(len(b))
	n := len(b)
	for len(b) > 0 && w.err == nil {
		// Long pieces are taken in parts, so that blocks stay near their size.
		part := min(len(b), blockSize/4)
		w.buf = append(w.buf, b[:part]...)
		b = b[part:]
		w.cut()
	}
	return n, w.err
}

// cut packs what is long enough, up to the end of a line where there is one.
func (w *Writer) cut() {
	if len(w.buf) < blockSize {
		return
	}
	end := bytes.LastIndexByte(w.buf, '\n') + 1
	if end == 0 {
		if len(w.buf) < MaxBlock {
			return // the line goes on
		}
		end = MaxBlock
	}
	w.block(end)
}

func (w *Writer) block(end int) {
	w.blocks = append(w.blocks, Block{Size: int64(end)})
	w.err = w.cutOff(len(w.blocks)-1, w.buf[:end])
	w.buf = append(w.buf[:0], w.buf[end:]...)
}

// Finish hands over the rest.
func (w *Writer) Finish() error {
	for len(w.buf) > 0 && w.err == nil {
		w.block(min(len(w.buf), MaxBlock))
	}
	return w.err
}

// Files and Blocks give the parts of an index once everything is packed.
func (w *Writer) Files() []File { return append([]File{}, w.files...) }

// Blocks is described at [Writer.Files].
func (w *Writer) Blocks() []Block { return append([]Block{}, w.blocks...) }
