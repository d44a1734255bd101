package model

// Estimate is roughly how many tokens r takes: four bytes of text each, the
// names around them included. It errs by a third in either direction, which is
// enough to warn and to compact in time, and for nothing else.
func Estimate(r *Request) int64 {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema) + 16
	}
	for _, m := range r.Messages {
		n += estimateParts(m.Parts) + 8
	}
	return EstimateText(n)
}

// EstimateText is roughly how many tokens a text of n bytes takes.
func EstimateText(n int) int64 { return int64((n + 3) / 4) }

// mediaBytes stands for an image or a file page: providers ask about 1,500 tokens.
const mediaBytes = 6000

func estimateParts(parts []Part) (n int) {
	for i := range parts {
		p := &parts[i]
		n += len(p.Text) + len(p.Name) + len(p.Args) + estimateParts(p.Parts) + 8
		switch p.Kind {
		case PartImage:
			n += mediaBytes
		case PartFile:
			n += max(mediaBytes, len(p.Data)/8)
		case PartText, PartThinking, PartCall, PartResult:
		}
	}
	return n
}
