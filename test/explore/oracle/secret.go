package oracle

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Secret finds a secret, plain or in base64, in a text that people and other programs can read. The message does not
// repeat the secret.
func Secret(where, text string, secrets []string) []string {
	var wrong []string
	for k, s := range secrets {
		if strings.Contains(text, s) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(s))) {
			wrong = append(wrong, fmt.Sprintf("secret number %d can be read in %s", k+1, where))
		}
	}
	return wrong
}
