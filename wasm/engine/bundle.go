package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/pack"
)

// block unpacks a block of a bundle: a line of JSON that says what it must be, then its bytes.
func (e *Engine) block(request []byte) ([]byte, error) {
	head, packed, found := bytes.Cut(request, []byte{'\n'})
	if !found {
		return nil, errors.New("block: no head")
	}
	var r struct {
		Size, Packed  int64
		SHA256, Place string
		Codec         pack.Codec
	}
	if err := json.Unmarshal(head, &r); err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	return e.blocks.Open(r.Codec, pack.Block{Size: r.Size, Packed: r.Packed, SHA256: r.SHA256}, r.Place, packed)
}

// readBundle reads the index of the bundle that the page came with.
func (d *desk) readBundle(r *request) ([]byte, error) {
	x, err := pack.Parse([]byte(r.Text), r.Hash)
	if err != nil {
		return nil, err
	}
	d.bundle = x
	type block struct {
		At     int64      `json:"at"`
		Size   int64      `json:"size"`
		Packed int64      `json:"packed"`
		SHA256 string     `json:"sha256"`
		Place  string     `json:"place"`
		Name   string     `json:"name"`
		Codec  pack.Codec `json:"codec"`
	}
	blocks := make([]block, len(x.Blocks))
	for n, b := range x.Blocks {
		blocks[n] = block{x.At(n), b.Size, b.Packed, b.SHA256, x.Place(n), x.Codec.Name(n), x.Codec}
	}
	return json.Marshal(map[string]any{"files": x.Files, "blocks": blocks})
}
