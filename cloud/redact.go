package cloud

import (
	"encoding/base64"
	"errors"
	"regexp"
)

const (
	// tellTale is the length from which on what a message shares with bootstrap data is no accident. A token that lets
	// machines join has 23 characters.
	tellTale = 16
	// redactedText stands for what was cut out of a message.
	redactedText = "(hidden)"
)

// spaces match white space that messages collapse into one blank.
var spaces = regexp.MustCompile(`\s+`)

// pieces are neighbours that were cut out one by one.
var pieces = regexp.MustCompile(`\(hidden\)(?:\s*\(hidden\))+`)

// RedactError cuts out of a refusal what it repeats of bootstrap data, as it is, on one line, or in base64: services like to quote the
// value that they refuse, and what they say reaches conditions, events and logs. Every driver passes the errors of Start through
// it. What is no *Error is passed on as it is, for a driver has written it.
func RedactError(err error, b Bootstrap) error {
	var e *Error
	if errors.As(err, &e) {
		e.Message = Redact(e.Message, b)
	}
	return err
}

// Redact is RedactError for words that are no refusal: what a service says of an operation or a machine that has failed.
func Redact(text string, b Bootstrap) string {
	if b.Empty() || len(text) < tellTale {
		return text
	}
	plain := string(b.Data())
	for _, data := range []string{plain, spaces.ReplaceAllString(plain, " "), base64.StdEncoding.EncodeToString(b.Data())} {
		text = cutOut(text, data)
	}
	return pieces.ReplaceAllString(text, redactedText)
}

// cutOut replaces every part of the text, of tellTale bytes or more, that occurs in the data.
func cutOut(text, data string) string {
	if len(text) < tellTale || len(data) < tellTale {
		return text
	}
	known := make(map[string]bool, len(data))
	for i := range len(data) - tellTale + 1 {
		known[data[i:i+tellTale]] = true
	}
	out := make([]byte, 0, len(text))
	for at := 0; at < len(text); {
		end := at
		for next := at; next+tellTale <= len(text) && next <= end && known[text[next:next+tellTale]]; next++ {
			end = next + tellTale
		}
		if end == at {
			out = append(out, text[at])
			at++
			continue
		}
		out = append(out, redactedText...)
		at = end
	}
	return string(out)
}
