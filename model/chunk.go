package model

// ChunkKind says which fields of a Chunk are meant.
type ChunkKind int

const (
	// ChunkBegin comes when the server has begun to answer: Provider, Name (the
	// model that really answers), ID (of the answer).
	ChunkBegin    ChunkKind = iota + 1
	ChunkText               // Block, Text to add
	ChunkThinking           // Block, Text to add
	// ChunkSignature closes a thinking block: Block, Text (the signature), ID,
	// Redacted. It may come without any ChunkThinking before it.
	ChunkSignature
	ChunkCallBegin // Block, ID, Name
	ChunkCallArgs  // Block, Text to add
	ChunkCallEnd   // Block, ID, Name, Text: all arguments, as the model wrote them
	// ChunkUsage says what the answer has cost so far. A later one replaces it.
	ChunkUsage
	ChunkNote // Note: something about the way here, not about the answer
	ChunkStop // Stop; the last chunk
)

// Chunk is a piece of an answer. Blocks are numbered from 0 in the order in
// which they began; chunks of parallel calls may alternate.
type Chunk struct {
	Kind     ChunkKind
	Block    int
	Text     string
	ID       string
	Name     string
	Provider string
	Redacted bool
	Usage    Usage
	Note     *Note
	Stop     Stop
}

// Shown reports whether somebody watching has seen something because of c.
// Before that, an exchange may be begun again without anybody noticing.
func (c *Chunk) Shown() bool {
	switch c.Kind {
	case ChunkText, ChunkThinking, ChunkSignature, ChunkCallBegin, ChunkCallArgs, ChunkCallEnd, ChunkStop:
		return true
	case ChunkBegin, ChunkUsage, ChunkNote:
	}
	return false
}

// Stop is why an answer ended.
type Stop string

const (
	StopEnd       Stop = "end_turn"
	StopTools     Stop = "tool_use"
	StopMaxTokens Stop = "max_tokens" // the answer is incomplete
	StopSequence  Stop = "stop_sequence"
	StopPause     Stop = "pause_turn" // the server wants the answer sent back to go on
)

// Note is what a transport_diagnostic says: the answer comes another way than
// it was asked for.
type Note struct {
	Status    string // "degraded"
	Kind      string // NoteRetry or NoteFallback
	Requested string // provider that was asked
	Actual    string // provider that is asked now
	Reason    string
	Failures  int
}

const (
	NoteRetry    = "provider_retry"
	NoteFallback = "provider_fallback"
)
