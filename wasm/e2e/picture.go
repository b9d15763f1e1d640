package e2e

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
)

// picture keeps what the window shows, where pictures are asked for: without a cursor, in few colours, so that the
// same view is the same small file.
func (p *Page) picture(name string) {
	if p.shots == "" {
		return
	}
	p.t.Helper()
	Eval[bool](p, `document.activeElement?.matches("input") && (document.activeElement.style.caretColor = "transparent"), true`)
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		shot, err = fewColours(shot)
	}
	if err == nil {
		err = os.MkdirAll(p.shots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.shots, name+".png"), shot, 0o644)
	}
	if err != nil {
		p.t.Errorf("picture %s: %v", name, err)
	}
}

// fewColours writes a picture with a palette of the 256 colours that it has most of. A page has fewer, but for the
// edges of its letters; these get the nearest.
func fewColours(file []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	size := full.Bounds()
	plain := image.NewNRGBA(size)
	draw.Draw(plain, size, full, size.Min, draw.Src)
	type rgb [3]byte
	count := map[rgb]int{}
	for at := 0; at < len(plain.Pix); at += 4 {
		count[rgb(plain.Pix[at:at+3])]++
	}
	all := make([]rgb, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b rgb) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return bytes.Compare(a[:], b[:])
	})
	var palette color.Palette
	for _, c := range all[:min(len(all), 256)] {
		palette = append(palette, color.NRGBA{c[0], c[1], c[2], 255})
	}
	index := map[rgb]uint8{}
	for _, c := range all {
		index[c] = uint8(palette.Index(color.NRGBA{c[0], c[1], c[2], 255}))
	}
	few := image.NewPaletted(size, palette)
	for at := 0; at < len(plain.Pix); at += 4 {
		few.Pix[at/4] = index[rgb(plain.Pix[at:at+3])]
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}
