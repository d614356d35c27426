package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// contentLength is the length of a content hash in hex digits. It is too short to be used for anything but a comparison.
const contentLength = 16

// withoutTokens returns a text in which every token is replaced by a placeholder.
func withoutTokens(text []byte) []byte { return named.ReplaceAll(text, []byte("${1}token")) }

// Content returns a hash of bootstrap data without its bootstrap tokens: two renderings of one configuration have the same. It reveals
// nothing of the data.
func Content(data []byte) string {
	data = decompressed(data)
	if config, ok := ignition(data); ok {
		data = config
	}
	sum := sha256.Sum256(withoutTokens(data))
	return hex.EncodeToString(sum[:])[:contentLength]
}

// ignition returns an Ignition configuration with its files decoded, so that tokens in them are found; nil for anything else.
func ignition(data []byte) ([]byte, bool) {
	var config map[string]any
	if json.Unmarshal(data, &config) != nil || config["ignition"] == nil {
		return nil, false
	}
	unpack(config)
	text, err := json.Marshal(config)
	return text, err == nil
}

// unpack replaces data URLs by their content, wherever they are.
func unpack(value any) {
	switch v := value.(type) {
	case map[string]any:
		source, _ := v["source"].(string)
		compression, _ := v["compression"].(string)
		if text, ok := unpacked(source, compression); ok {
			delete(v, "compression")
			v["source"] = string(withoutTokens(text))
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
