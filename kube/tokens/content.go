package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// contentLength tells contents apart, in hex digits, and is too short to be used for anything else.
const contentLength = 16

// without is a text with a word in the place of every token.
func without(text []byte) []byte { return named.ReplaceAll(text, []byte("${1}token")) }

// Content tells bootstrap data apart by what is in it but for its bootstrap tokens: two renderings of one configuration have the
// same. It shows nothing of the data.
func Content(data []byte) string {
	data = plain(data)
	if config, ok := ignition(data); ok {
		data = config
	}
	sum := sha256.Sum256(without(data))
	return hex.EncodeToString(sum[:])[:contentLength]
}

// ignition is an Ignition configuration with its files unpacked, so that what is in them can be read; anything else is none.
func ignition(data []byte) ([]byte, bool) {
	var config map[string]any
	if json.Unmarshal(data, &config) != nil || config["ignition"] == nil {
		return nil, false
	}
	unpack(config)
	text, err := json.Marshal(config)
	return text, err == nil
}

// unpack puts texts in the place of data URLs, wherever they are.
func unpack(value any) {
	switch v := value.(type) {
	case map[string]any:
		source, _ := v["source"].(string)
		compression, _ := v["compression"].(string)
		if text, ok := unpacked(source, compression); ok {
			delete(v, "compression")
			v["source"] = string(without(text))
		}
		for _, below := range v {
			unpack(below)
		}
	case []any:
		for _, below := range v {
			unpack(below)
		}
	}
}
