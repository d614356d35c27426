package core

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// logName is the file inside the directory of a store.
	logName = "state.log"
	// compactFloorBytes: a log below this size is never rewritten, for that would cost more than it saves.
	compactFloorBytes = 8 << 20
	// compactRatio: a log this many times larger than what it holds is rewritten.
	compactRatio = 6
	// historyLimit bounds how many commits can be looked back upon; stale reads never need more.
	historyLimit = 2048
)

// Store keeps documents by key, in memory and, when it has a directory, in an append-only log. A commit is one line written by
// one call before Commit returns: a process that is killed at any moment finds either all of a commit or nothing of it. The log
// is not synced to the platter, for it must survive the death of a process, not of the machine.
type Store struct {
	mu      sync.Mutex
	docs    map[string]json.RawMessage
	live    int
	path    string
	log     *os.File
	logged  int
	history []past
}

// past holds the data to undo one commit.
type past struct {
	at   time.Time
	call bool
	undo map[string]json.RawMessage
}

// OpenStore loads what the directory holds, or starts empty. Without a directory nothing is written to disk.
func OpenStore(dir string) (*Store, error) {
	s := &Store{docs: map[string]json.RawMessage{}}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder %s: %w", dir, err)
	}
	s.path = filepath.Join(dir, logName)
	log, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the state log: %w", err)
	}
	s.log = log
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", s.path, err), log.Close())
	}
	return s, nil
}

// load replays the log. A last line without its end is a commit that was never acknowledged: it is cut off.
func (s *Store) load() error {
	r := bufio.NewReaderSize(s.log, 1<<20)
	good := 0
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var changes map[string]json.RawMessage
		if err := json.Unmarshal(line, &changes); err != nil {
			return fmt.Errorf("line %d is damaged: %w", n, err)
		}
		for k, doc := range changes {
			s.set(k, doc)
		}
		good += len(line)
	}
	if err := s.log.Truncate(int64(good)); err != nil {
		return err
	}
	if _, err := s.log.Seek(int64(good), io.SeekStart); err != nil {
		return err
	}
	s.logged = good
	return nil
}

// set puts or, with null, removes one document and returns what was there.
func (s *Store) set(key string, doc json.RawMessage) json.RawMessage {
	old := s.docs[key]
	s.live += len(doc) - len(old)
	if isNull(doc) {
		s.live -= len(doc)
		delete(s.docs, key)
		return old
	}
	s.docs[key] = doc
	return old
}

func isNull(doc json.RawMessage) bool { return doc == nil || bytes.Equal(doc, []byte("null")) }

// Commit makes all changes or none; a nil document removes its key. call tells commits made for a caller from those that time
// alone brought about, so that stale reads can be counted in calls.
func (s *Store) Commit(now time.Time, call bool, changes map[string]json.RawMessage) error {
	if len(changes) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(changes); err != nil {
		return err
	}
	undo := make(map[string]json.RawMessage, len(changes))
	for k, doc := range changes {
		undo[k] = s.set(k, doc)
	}
	s.history = append(s.history, past{now, call, undo})
	if len(s.history) > historyLimit {
		s.history = slices.Delete(s.history, 0, len(s.history)-historyLimit)
	}
	return nil
}

func (s *Store) append(changes map[string]json.RawMessage) error {
	if s.log == nil {
		return nil
	}
	line, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("encode a commit: %w", err)
	}
	n, err := s.log.Write(append(line, '\n'))
	if err != nil {
		// Cut off what was written of it, so that the next commit does not land behind half a line.
		_ = s.log.Truncate(int64(s.logged))
		_, _ = s.log.Seek(int64(s.logged), io.SeekStart)
		return fmt.Errorf("write the state log: %w", err)
	}
	s.logged += n
	if s.logged > compactFloorBytes && s.logged > compactRatio*(s.live+1) {
		return s.compact()
	}
	return nil
}

// compact rewrites the log with the live documents as one commit. The commit that is being made is already in the old log and
// will be appended to the new one only with the next commit, so it is written along.
func (s *Store) compact() error {
	tail, err := lastLine(s.path)
	if err != nil {
		return fmt.Errorf("read the state log: %w", err)
	}
	all, err := json.Marshal(s.docs)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	body := append(append(all, '\n'), tail...)
	tmp := s.path + ".new"
	if err := os.WriteFile(tmp, body, 0o600); err != nil {
		return fmt.Errorf("write the new state log: %w", err)
	}
	if err := os.Rename(tmp, s.path); err != nil {
		return fmt.Errorf("replace the state log: %w", err)
	}
	log, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the new state log: %w", err)
	}
	_ = s.log.Close() // only read from now on, and replaced
	s.log, s.logged = log, len(body)
	return nil
}

func lastLine(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	trimmed := bytes.TrimSuffix(b, []byte("\n"))
	return b[bytes.LastIndexByte(trimmed, '\n')+1:], nil
}

// Range calls f for every document whose key has the prefix, in the order of the keys.
func (s *Store) Range(prefix string, f func(key string, doc json.RawMessage) error) error {
	return rangeDocs(s.Docs(), prefix, f)
}

// Docs are all documents as of now. The map is the caller's.
func (s *Store) Docs() map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.docs)
}

// DocsBefore are all documents as they were at the given time and before the last n commits made for callers, whichever is earlier.
// What lies further back than the history is served as of the history's start.
func (s *Store) DocsBefore(at time.Time, calls int) map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs := maps.Clone(s.docs)
	for _, p := range slices.Backward(s.history) {
		if calls <= 0 && !p.at.After(at) {
			break
		}
		for k, doc := range p.undo {
			if isNull(doc) {
				delete(docs, k)
			} else {
				docs[k] = doc
			}
		}
		if p.call {
			calls--
		}
	}
	return docs
}

// Close closes the log. Nothing needs to be flushed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return nil
	}
	err := s.log.Close()
	s.log = nil
	return err
}

func rangeDocs(docs map[string]json.RawMessage, prefix string, f func(string, json.RawMessage) error) error {
	for _, k := range slices.Sorted(maps.Keys(docs)) {
		if !strings.HasPrefix(k, prefix) {
			continue
		}
		if err := f(k, docs[k]); err != nil {
			return err
		}
	}
	return nil
}
