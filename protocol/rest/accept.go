package rest

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// acceptable refuses a request that wants another form than the one there is.
func acceptable(r *http.Request, offered string) error {
	_, err := choose(r, offered)
	return err
}

// choose is the form of the answer that the request likes best; of several that
// it likes as well the one offered first.
func choose(r *http.Request, offered ...string) (string, error) {
	ranges := r.Header.Values("Accept")
	if len(ranges) == 0 {
		return offered[0], nil
	}
	best, most := "", 0.0
	for _, media := range offered {
		if q := quality(strings.Join(ranges, ","), media); q > most {
			best, most = media, q
		}
	}
	if best == "" {
		p := *errAccept
		p.Detail = "there is " + strings.Join(offered, " and ")
		return "", &p
	}
	return best, nil
}

// quality is how much an Accept header likes a media type: what the most
// precise of its ranges says.
func quality(accept, media string) float64 {
	kind, _, _ := strings.Cut(media, "/")
	ranges := []string{"*/*", kind + "/*", media}
	q, precise := 0.0, -1
	for part := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		at := slices.Index(ranges, name)
		if at <= precise {
			continue
		}
		precise, q = at, 1
		if given, ok := params["q"]; ok {
			if v, err := strconv.ParseFloat(given, 64); err == nil {
				q = v
			}
		}
	}
	return q
}
