package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// The types of artifacts, in S3's words.
const (
	ArtifactTaskGraph   = "task_graph"
	ArtifactWorkspace   = "workspace"
	ArtifactRunRecord   = "run_record"
	ArtifactFinalOutput = "final_output"
	ArtifactToolOutput  = "tool_output"
	ArtifactDiff        = "diff"
)

// ArtifactPrefix begins the ids of artifacts that have content.
const ArtifactPrefix = "art_"

// MaxArtifact bounds the content of one artifact: any log of a build, and no
// disk image.
const MaxArtifact = 64 << 20

// maxArtifactID is the longest id that NewArtifact makes.
const maxArtifactID = len(ArtifactPrefix) + MaxID + 1 + 26

// NewArtifact is an artifact with content, for a session to keep. Its id is a
// function of both, so that the same content kept again is the same artifact,
// and says where it is kept.
func NewArtifact(id SessionID, kind, title string, content []byte) *Artifact {
	sum := sha256.Sum256(content)
	name := ArtifactPrefix + string(id) + "." + crockford.EncodeToString(sum[:16])
	a := &Artifact{ArtifactID: name, ArtifactType: kind, Title: title, URI: "/artifacts/" + name, Content: content}
	a.Fill()
	return a
}

// Fill makes size and checksum those of the content.
func (a *Artifact) Fill() {
	sum := sha256.Sum256(a.Content)
	a.Size, a.SHA256 = int64(len(a.Content)), hex.EncodeToString(sum[:])
}

// ParseArtifactID is whose an artifact is, and its name there. An id that was
// not made by [NewArtifact] names nothing that is kept: [ErrNotFound].
func ParseArtifactID(s string) (SessionID, string, error) {
	rest, ok := strings.CutPrefix(s, ArtifactPrefix)
	dot := strings.LastIndexByte(rest, '.')
	if !ok || dot < 0 {
		return "", "", fmt.Errorf("artifact %q: %w", s, ErrNotFound)
	}
	name := rest[dot+1:]
	sum, err := crockford.DecodeString(name)
	if _, bad := ParseSessionID(rest[:dot]); bad != nil || err != nil || len(sum) != 16 || crockford.EncodeToString(sum) != name {
		return "", "", fmt.Errorf("artifact %q: %w", s, ErrNotFound)
	}
	return SessionID(rest[:dot]), name, nil
}

// Shelf keeps the content of artifacts. Its methods may be called concurrently.
type Shelf interface {
	// Put keeps content under an artifact's id. It is durable when Put returns;
	// the same again is fine. More than [MaxArtifact] is [ErrTooLarge].
	Put(ctx context.Context, id string, content []byte) error
	// Open reads it, or is [ErrNotFound].
	Open(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// Forget removes everything of a session.
	Forget(ctx context.Context, id SessionID) error
}
