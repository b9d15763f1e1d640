package pack

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Codec is how blocks are packed.
type Codec string

// The codecs.
const (
	Zstd Codec = ""     // of every bundle of version 1, where it is not named
	Gzip Codec = "gzip" // one member a block: what browsers pack by themselves
)

// ending is that of a block's file.
func (c Codec) ending() string {
	if c == Gzip {
		return ".gz"
	}
	return ".zst"
}

// NewWriter makes a Writer that packs with zstd and hands over block after block. put must not keep the bytes. It packs as
// quickly as zstd does, for a few per cent of size, and without sums of its own, as every block has its SHA-256.
func NewWriter(put func(n int, packed []byte) error) *Writer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	w := &Writer{err: err}
	var packed []byte
	w.cutOff = func(n int, plain []byte) error {
		packed = enc.EncodeAll(plain, packed[:0])
		if err := w.Packed(n, packed); err != nil {
			return err
		}
		return put(n, packed)
	}
	return w
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
	return x.opener.Open(x.Codec, x.Blocks[n], x.Place(n), packed)
}

// An Opener unpacks blocks one after the other.
type Opener struct {
	dec *zstd.Decoder
	zip *gzip.Reader
}

// Open unpacks a block and holds it against its entry of the index. The error is a *[Damage] at the place.
func (o *Opener) Open(c Codec, b Block, place string, packed []byte) ([]byte, error) {
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
	var plain []byte
	var err error
	switch c {
	case Zstd:
		plain, err = o.zstd(b.Size, packed)
	case Gzip:
		plain, err = o.gzip(b.Size, packed)
	default:
		err = fmt.Errorf("nothing here unpacks %.20q", string(c))
	}
	if err != nil {
		return damaged("it cannot be unpacked: " + err.Error())
	}
	if int64(len(plain)) != b.Size {
		return damaged(fmt.Sprintf("it unpacks to %d bytes where the index says %d", len(plain), b.Size))
	}
	return plain, nil
}

func (o *Opener) zstd(size int64, packed []byte) ([]byte, error) {
	if o.dec == nil {
		// With one decoder nothing runs beside the caller, who may be a host without threads.
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBlock))
		if err != nil {
			return nil, err
		}
		o.dec = dec
	}
	return o.dec.DecodeAll(packed, make([]byte, 0, size))
}

// gzip unpacks the one member of a block, never more than the size that is expected.
func (o *Opener) gzip(size int64, packed []byte) ([]byte, error) {
	in := bytes.NewReader(packed)
	var err error
	if o.zip == nil {
		o.zip, err = gzip.NewReader(in)
	} else {
		err = o.zip.Reset(in)
	}
	if err != nil {
		return nil, err
	}
	o.zip.Multistream(false)
	plain := bytes.NewBuffer(make([]byte, 0, size+1+bytes.MinRead))
	switch n, err := plain.ReadFrom(io.LimitReader(o.zip, size+1)); {
	case err != nil:
		return nil, err
	case n > size:
		return nil, fmt.Errorf("it has more than %d bytes", size)
	case in.Len() > 0:
		return nil, fmt.Errorf("%d bytes stand behind it", in.Len())
	}
	return plain.Bytes(), nil
}
