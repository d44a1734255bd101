package jsonl

import (
	"container/list"
	"os"
)

// logs are the files open for appending, at most max of them: the one that was
// used longest ago is closed first.
type logs struct {
	max   int
	files map[*thread]*list.Element
	used  *list.List // of *openLog, the latest first
}

type openLog struct {
	t *thread
	f *os.File
}

func newLogs(max int) *logs {
	return &logs{max: max, files: map[*thread]*list.Element{}, used: list.New()}
}

// open returns t's log. It stays open until max others have been asked for.
func (l *logs) open(t *thread, path string) (*os.File, error) {
	if e, ok := l.files[t]; ok {
		l.used.MoveToFront(e)
		return e.Value.(*openLog).f, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	l.files[t] = l.used.PushFront(&openLog{t, f})
	if l.used.Len() > l.max {
		l.drop(l.used.Back().Value.(*openLog).t)
	}
	return f, nil
}

// drop closes t's log. What was flushed is durable, so how it closes does not
// matter.
func (l *logs) drop(t *thread) {
	if e, ok := l.files[t]; ok {
		delete(l.files, t)
		l.used.Remove(e)
		e.Value.(*openLog).f.Close()
	}
}

func (l *logs) close() {
	for l.used.Len() > 0 {
		l.drop(l.used.Back().Value.(*openLog).t)
	}
}
