package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness/tool"
)

// result is an answer in the form of tools. An answer that says it is an error
// becomes one, with what came along.
func result(answer *sdk.CallToolResult) (tool.Result, error) {
	var g gathering
	for _, c := range answer.Content {
		g.add(c)
	}
	if answer.StructuredContent != nil {
		data, err := json.Marshal(answer.StructuredContent)
		switch {
		case err != nil:
			return tool.Result{}, fmt.Errorf("structured content: %w", err)
		case len(data) > MaxResult:
			g.note("structured content of %d bytes was left out", len(data))
		default:
			g.out.Data = data
			if g.text.Len() == 0 {
				g.say(string(data))
			}
		}
	}
	out := g.result()
	if answer.IsError {
		if out.Text == "" {
			return out, errors.New("the tool failed and does not say why")
		}
		return out, errors.New(shorten(out.Text, MaxDescription))
	}
	return out, nil
}

// gathering puts parts together, up to MaxResult of text and as much of pictures.
type gathering struct {
	text   strings.Builder
	images int // bytes
	cut    int // bytes of text that were left out
	out    tool.Result
}

func (g *gathering) add(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		g.say(c.Text)
	case *sdk.ImageContent:
		g.show(c.MIMEType, c.Data)
	case *sdk.AudioContent:
		g.note("audio, %s, %d bytes", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		g.note("resource %s %s %s", c.URI, c.MIMEType, shorten(c.Description, 200))
	case *sdk.EmbeddedResource:
		g.resource(c.Resource)
	default:
		g.note("content of a kind that is not known here")
	}
}

func (g *gathering) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob == nil:
		g.note("resource %s", r.URI)
		g.say(r.Text)
	case strings.HasPrefix(r.MIMEType, "image/"):
		g.show(r.MIMEType, r.Blob)
	default:
		g.note("resource %s, %s, %d bytes", r.URI, r.MIMEType, len(r.Blob))
	}
}

func (g *gathering) say(s string) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if g.text.Len() > 0 && s != "" {
		s = "\n" + s
	}
	if room := MaxResult - g.text.Len(); len(s) > room {
		g.cut += len(s) - room
		s = strings.ToValidUTF8(s[:room], "")
	}
	g.text.WriteString(s)
}

func (g *gathering) note(format string, args ...any) {
	g.say("[" + strings.TrimSpace(shorten(fmt.Sprintf(format, args...), 1<<10)) + "]")
}

func (g *gathering) show(media string, data []byte) {
	if g.images += len(data); g.images > MaxResult || !strings.HasPrefix(media, "image/") {
		g.note("a picture, %s, %d bytes, was left out", media, len(data))
		return
	}
	g.out.Images = append(g.out.Images, tool.Image{Media: media, Data: data})
}

func (g *gathering) result() tool.Result {
	g.out.Text = g.text.String()
	if g.cut > 0 {
		g.out.Text += fmt.Sprintf("\n[%d bytes more were left out]", g.cut)
	}
	return g.out
}
