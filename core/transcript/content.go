package transcript

import (
	"encoding/base64"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Part is a piece of what is said.
type Part struct {
	Kind  PartKind
	Text  jsonscan.Value // of texts
	Image Image          // of images
	Value jsonscan.Value // as it was written
}

// A PartKind says what a part is.
type PartKind uint8

const (
	PartOther PartKind = iota
	PartText
	PartRefusal
	PartImage
)

// Content gives the parts of an item: of a message what is said, of reasoning what is thought, of a result what came
// back.
func (it *Item) Content() []Part {
	if it.Kind == Reasoning && !it.Text.Exists() {
		var list []Part
		for _, name := range [...]string{"summary", "content"} {
			list = append(list, parts(it.Value.Get(name))...)
		}
		return list
	}
	return parts(it.Text)
}

// Encrypted tells whether reasoning is there that only the model's maker can read.
func (it *Item) Encrypted() bool {
	if it.Kind != Reasoning {
		return false
	}
	return it.Value.Get("encrypted_content").Truthy() || it.Value.Get("type").Is("redacted_thinking")
}

func parts(v jsonscan.Value) []Part {
	switch v.Kind() {
	case jsonscan.Absent, jsonscan.Null:
		return nil
	case jsonscan.String:
		return []Part{{Kind: PartText, Text: v, Value: v}}
	case jsonscan.Array:
		var list []Part
		e := v.Elements()
		for e.Next() {
			list = append(list, partOf(e.Value))
		}
		return list
	}
	return []Part{partOf(v)}
}

func partOf(v jsonscan.Value) Part {
	if v.IsString() {
		return Part{Kind: PartText, Text: v, Value: v}
	}
	p := Part{Value: v}
	text := v.Get("text")
	switch tag := v.Get("type").Text(); tag {
	case "refusal":
		p.Kind, p.Text = PartRefusal, v.Get("refusal")
	case "input_image", "image_url", "image", "output_image", "computer_screenshot":
		p.Kind, p.Image = PartImage, imageOf(v)
	default:
		if text.IsString() {
			p.Kind, p.Text = PartText, text
		}
	}
	return p
}

// An Image is what is known of an image without fetching it.
type Image struct {
	Kind      ImageKind
	MediaType string
	Bytes     int    // of the picture, where it is there
	Address   string // of a remote one, or a file id
}

// An ImageKind says where an image is.
type ImageKind uint8

const (
	ImageUnknown ImageKind = iota // nothing that names an image
	ImageInline                   // a data address of a picture that a page may show
	ImageBroken                   // a data address that cannot be decoded
	ImageForeign                  // a data address of something that is no plain picture
	ImageRemote                   // an address elsewhere; it is never fetched
	ImageFile                     // a file id
)

// String gives the words for it.
func (k ImageKind) String() string {
	return [...]string{"unknown image", "image", "broken image", "data that is no picture", "remote image", "image file"}[k]
}

func imageOf(v jsonscan.Value) Image {
	address := v.Get("image_url")
	if address.IsObject() {
		address = address.Get("url")
	}
	if source := v.Get("source"); source.IsObject() && !address.IsString() {
		if data := source.Get("data"); data.IsString() {
			return inline(source.Get("media_type").Text(), data.Text())
		}
		address = source.Get("url")
	}
	switch {
	case address.IsString():
		return ImageOf(address.Text())
	case v.Get("file_id").IsString():
		return Image{Kind: ImageFile, Address: v.Get("file_id").Text()}
	}
	return Image{}
}

// ImageOf tells what an address of an image is.
func ImageOf(address string) Image {
	const scheme = "data:"
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return Image{Kind: ImageRemote, Address: address}
	}
	head, data, found := strings.Cut(address[len(scheme):], ",")
	kind, options, _ := strings.Cut(head, ";")
	if !found || !strings.Contains(";"+strings.ToLower(options)+";", ";base64;") {
		return Image{Kind: ImageForeign, MediaType: strings.ToLower(kind), Bytes: len(data)}
	}
	return inline(kind, data)
}

// Address gives the address that a part of a message has for its image, "" for none.
func Address(v jsonscan.Value) string {
	address := v.Get("image_url")
	if address.IsObject() {
		address = address.Get("url")
	}
	if source := v.Get("source"); source.IsObject() && !address.IsString() {
		if data := source.Get("data"); data.IsString() {
			return "data:" + source.Get("media_type").Text() + ";base64," + data.Text()
		}
		address = source.Get("url")
	}
	return address.Text()
}

// Inline gives the base64 text of an image that is in the row, "" for others.
func Inline(v jsonscan.Value) string {
	_, data, _ := strings.Cut(Address(v), ",")
	return data
}

// pictures are the media types that hold a picture and nothing that can act.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true, "image/avif": true}

func inline(kind, data string) Image {
	kind = strings.ToLower(strings.TrimSpace(kind))
	i := Image{MediaType: kind}
	n, err := base64.StdEncoding.Decode(make([]byte, base64.StdEncoding.DecodedLen(len(data))), []byte(data))
	switch {
	case err != nil || n == 0:
		i.Kind, i.Bytes = ImageBroken, len(data)
	case !pictures[kind]:
		i.Kind, i.Bytes = ImageForeign, n
	default:
		i.Kind, i.Bytes = ImageInline, n
	}
	return i
}

// ArgumentsKind says what the arguments of a tool call are.
type ArgumentsKind uint8

const (
	ArgumentsObject  ArgumentsKind = iota // a text that holds an object, as it should be
	ArgumentsDirect                       // an object that is not in a text
	ArgumentsValue                        // a text that holds another value than an object
	ArgumentsEncoded                      // a text in a text that holds an object
	ArgumentsBroken                       // a text that is not JSON
	ArgumentsEmpty                        // an empty text
	ArgumentsNone                         // null or absent
	ArgumentsOdd                          // anything else
)

// String gives the words for it.
func (k ArgumentsKind) String() string {
	return [...]string{"object", "object, not text", "no object", "JSON in JSON", "not JSON", "empty", "none", "odd"}[k]
}

// ArgumentsOf tells what the arguments of a tool call are, and gives them as JSON where they are any.
func ArgumentsOf(v jsonscan.Value) (ArgumentsKind, value.Value) {
	switch v.Kind() {
	case jsonscan.Absent, jsonscan.Null:
		return ArgumentsNone, value.Value{}
	case jsonscan.Object:
		return ArgumentsDirect, value.Of(v)
	case jsonscan.String:
	default:
		return ArgumentsOdd, value.Of(v)
	}
	text := v.Text()
	if text == "" {
		return ArgumentsEmpty, value.Value{}
	}
	parsed, err := value.Parse([]byte(text), value.Leniency{Surrogates: true})
	if err != nil {
		return ArgumentsBroken, value.Value{}
	}
	if parsed.IsObject() {
		return ArgumentsObject, parsed
	}
	if inner, ok := parsed.Text(); ok {
		if again, err := value.Parse([]byte(inner), value.Leniency{Surrogates: true}); err == nil && again.IsObject() {
			return ArgumentsEncoded, again
		}
	}
	return ArgumentsValue, parsed
}
