package aws

import (
	"encoding/base64"
	"errors"

	"github.com/muster-project/muster/cloud"
)

const (
	// tellTale is the length from which on what a message shares with bootstrap data is no accident. A token that lets
	// machines join has 23 characters.
	tellTale = 16
	// hiddenText stands for what was cut out of a message.
	hiddenText = "(hidden)"
)

// hidden cuts out of a refusal what it repeats of bootstrap data, plain or as it is sent: services like to quote the value
// that they refuse, and what they say reaches conditions, events and logs.
func hidden(err error, b cloud.Bootstrap) error {
	var e *cloud.Error
	if !errors.As(err, &e) || b.Empty() {
		return err
	}
	plain := spaces.ReplaceAllString(string(b.Data()), " ")
	for _, data := range []string{plain, base64.StdEncoding.EncodeToString(b.Data())} {
		e.Message = cutOut(e.Message, data)
	}
	return err
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
		out = append(out, hiddenText...)
		at = end
	}
	return string(out)
}
