package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// blockSize is how many plain bytes a block has at least, unless it is the last.
const blockSize = 1 << 20

// A Writer packs files into blocks.
type Writer struct {
	put    func(n int, packed []byte) error
	enc    *zstd.Encoder
	buf    []byte
	files  []File
	blocks []Block
	total  int64
	err    error
}

// NewWriter makes a Writer that hands over block after block. put must not keep the bytes.
func NewWriter(put func(n int, packed []byte) error) *Writer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(true))
	return &Writer{put: put, enc: enc, err: err}
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
	packed := w.enc.EncodeAll(w.buf[:end], nil)
	sum := sha256.Sum256(packed)
	w.blocks = append(w.blocks, Block{Size: int64(end), Packed: int64(len(packed)), SHA256: hex.EncodeToString(sum[:])})
	w.buf = append(w.buf[:0], w.buf[end:]...)
	w.err = w.put(len(w.blocks)-1, packed)
}

// Finish packs the rest.
func (w *Writer) Finish() ([]File, []Block, error) {
	for len(w.buf) > 0 && w.err == nil {
		w.block(min(len(w.buf), MaxBlock))
	}
	files, blocks := w.files, w.blocks
	if files == nil {
		files = []File{}
	}
	if blocks == nil {
		blocks = []Block{}
	}
	return files, blocks, w.err
}

// A Damage says what is wrong with a block and what is lost by it.
type Damage struct {
	Place  string
	Reason string
}

func (d *Damage) Error() string { return d.Place + ": " + d.Reason }

// Open unpacks a block and holds it against the index. The error is a *[Damage].
func (x *Index) Open(n int, packed []byte) ([]byte, error) {
	if n < 0 || n >= len(x.Blocks) {
		return nil, fmt.Errorf("the bundle has no block %d", n+1)
	}
	return x.opener.Open(x.Blocks[n], x.Place(n), packed)
}

// An Opener unpacks blocks one after the other.
type Opener struct{ dec *zstd.Decoder }

// Open unpacks a block and holds it against its entry of the index. The error is a *[Damage] at the place.
func (o *Opener) Open(b Block, place string, packed []byte) ([]byte, error) {
	damaged := func(reason string) ([]byte, error) { return nil, &Damage{place, reason} }
	if b.Size < 1 || b.Size > MaxBlock {
		return damaged("it has no possible size")
	}
	if int64(len(packed)) != b.Packed {
		return damaged(fmt.Sprintf("it has %d bytes where the index says %d", len(packed), b.Packed))
	}
	if sum := sha256.Sum256(packed); hex.EncodeToString(sum[:]) != b.SHA256 {
		return damaged("its bytes are not those that were written: it was damaged, edited, or belongs to another version of the bundle")
	}
	if o.dec == nil {
		// With one decoder nothing runs beside the caller, who may be a host without threads.
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBlock))
		if err != nil {
			return damaged(err.Error())
		}
		o.dec = dec
	}
	plain, err := o.dec.DecodeAll(packed, make([]byte, 0, b.Size))
	if err != nil {
		return damaged("it cannot be unpacked: " + err.Error())
	}
	if int64(len(plain)) != b.Size {
		return damaged(fmt.Sprintf("it unpacks to %d bytes where the index says %d", len(plain), b.Size))
	}
	return plain, nil
}
