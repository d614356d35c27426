package admission

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// keyBits is the shortest RSA key that Azure takes.
const keyBits = 2048

// newKey is a public key whose private half is thrown away: Azure wants one of every Linux machine, and none is used.
func newKey() (string, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	public, err := ssh.NewPublicKey(&private.PublicKey)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(ssh.MarshalAuthorizedKey(public)), nil
}

// keyProblems validates an SSH public key.
func keyProblems(key string) field.ErrorList {
	path := field.NewPath("spec", "template", "sshPublicKey")
	text, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return field.ErrorList{field.Invalid(path, key, "the SSH public key is not properly base64 encoded")}
	}
	if len(text) == 0 {
		return nil
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(text); err != nil {
		return field.ErrorList{field.Invalid(path, key, "the SSH public key is not valid")}
	}
	return nil
}
