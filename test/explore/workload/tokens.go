package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tokens are the bootstrap tokens of a cluster.
type Tokens struct {
	cluster *Cluster
	// made are those that were ever made, whatever has become of them, and the place of the pool that each was made for.
	made map[string]int
	// lasting is a token that is good for ever: that of machines which are given no other.
	lasting string
}

// secretOf returns the Secret of the workload cluster that a bootstrap token is.
func secretOf(token string) *corev1.Secret {
	id, secret, _ := strings.Cut(token, ".")
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + id},
		Data:       map[string][]byte{bootstrapapi.BootstrapTokenIDKey: []byte(id), bootstrapapi.BootstrapTokenSecretKey: []byte(secret)},
	}
}

// found returns the Secret of a token as it is now; nil when there is none.
func (t *Tokens) found(token string) *corev1.Secret {
	secret := secretOf(token)
	if t.cluster.User.Get(t.cluster.env.Context(), client.ObjectKeyFromObject(secret), secret) != nil {
		return nil
	}
	return secret
}

// until is when a token expires; zero is never.
func until(secret *corev1.Secret) time.Time {
	at, err := time.Parse(time.RFC3339, string(secret.Data[bootstrapapi.BootstrapTokenExpirationKey]))
	if err != nil {
		return time.Time{}
	}
	return at
}

// good reports whether a token was made and has not expired.
func (t *Tokens) good(token string) bool {
	if token != "" && token == t.lasting {
		return true
	}
	secret := t.found(token)
	_, made := t.made[token]
	return made && secret != nil && (until(secret).IsZero() || time.Now().Before(until(secret)))
}

// Rotate makes the n-th token of the pool at a place. The one before it stays good for a while, and for as long as Muster keeps it alive.
func (t *Tokens) Rotate(of, n int) string {
	for _, token := range t.All() {
		secret := t.found(token)
		if token == t.lasting || t.made[token] != of || secret == nil || !until(secret).IsZero() {
			continue
		}
		at := time.Now().Add(tokenStays).UTC()
		secret.Data[bootstrapapi.BootstrapTokenExpirationKey] = []byte(at.Format(time.RFC3339))
		t.cluster.env.Must(t.cluster.User.Update(t.cluster.env.Context(), secret), "let a token expire")
	}
	return t.make(of, n)
}

// perPool is more than the number of tokens of a pool.
const perPool = 1000

func (t *Tokens) make(of, n int) string {
	c := t.cluster
	n += of * perPool
	token := c.seed.Hex(6, "token", n) + "." + c.seed.Hex(16, "secret", n)
	t.made[token] = of
	c.env.Must(c.User.Create(c.env.Context(), secretOf(token)), "make a token")
	return token
}

// Last makes a token that is good for ever, once.
func (t *Tokens) Last() string {
	if t.lasting == "" {
		t.lasting = t.make(0, -1)
	}
	return t.lasting
}

// All returns all tokens that were ever created.
func (t *Tokens) All() []string { return slices.Sorted(maps.Keys(t.made)) }

// KeepsToken reports whether an effect extends the validity of a bootstrap token. That continues at rest, as long as machines may be
// launched with it.
func KeepsToken(effect string) bool {
	return strings.HasPrefix(effect, "wl patch Secret "+metav1.NamespaceSystem+"/"+bootstrapapi.BootstrapTokenSecretPrefix)
}

// TokenIn returns whether a machine can join with the token in a text: good or bad.
func (t *Tokens) TokenIn(text []byte) string {
	if token := tokenIn.FindSubmatch(text); token != nil && t.good(string(token[1])) {
		return "good"
	}
	return "bad"
}

// DataPrint returns a text that identifies bootstrap data without its token, and whether a machine can join with the token.
func (t *Tokens) DataPrint(text []byte) string {
	sum := sha256.Sum256(tokenIn.ReplaceAll(text, nil))
	return t.TokenIn(text) + " " + hex.EncodeToString(sum[:])
}
