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

// secretOf is the Secret of the workload cluster that a bootstrap token is.
func secretOf(token string) *corev1.Secret {
	id, secret, _ := strings.Cut(token, ".")
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + id},
		Data:       map[string][]byte{bootstrapapi.BootstrapTokenIDKey: []byte(id), bootstrapapi.BootstrapTokenSecretKey: []byte(secret)},
	}
}

// found is the Secret of a token as it is now; nil when there is none.
func (l *Cluster) found(token string) *corev1.Secret {
	secret := secretOf(token)
	if l.User.Get(l.world.Context(), client.ObjectKeyFromObject(secret), secret) != nil {
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
func (l *Cluster) good(token string) bool {
	if token != "" && token == l.lasting {
		return true
	}
	secret := l.found(token)
	return l.made[token] && secret != nil && (until(secret).IsZero() || time.Now().Before(until(secret)))
}

// Rotate makes a new token. The one before it stays good for a while, and for as long as Muster keeps it alive.
func (l *Cluster) Rotate(n int) string {
	for _, token := range l.Tokens() {
		secret := l.found(token)
		if token == l.lasting || secret == nil || !until(secret).IsZero() {
			continue
		}
		at := time.Now().Add(tokenStays).UTC()
		secret.Data[bootstrapapi.BootstrapTokenExpirationKey] = []byte(at.Format(time.RFC3339))
		l.world.Must(l.User.Update(l.world.Context(), secret), "let a token expire")
	}
	return l.make(n)
}

func (l *Cluster) make(n int) string {
	token := l.seed.Hex(6, "token", n) + "." + l.seed.Hex(16, "secret", n)
	l.made[token] = true
	l.world.Must(l.User.Create(l.world.Context(), secretOf(token)), "make a token")
	return token
}

// Last makes a token that is good for ever, once.
func (l *Cluster) Last() string {
	if l.lasting == "" {
		l.lasting = l.make(-1)
	}
	return l.lasting
}

// Tokens are all that were ever made.
func (l *Cluster) Tokens() []string { return slices.Sorted(maps.Keys(l.made)) }

// KeepsToken reports whether an effect gives a bootstrap token more time. That goes on at rest, as long as machines may be launched with
// it.
func KeepsToken(effect string) bool {
	return strings.HasPrefix(effect, "wl patch Secret "+metav1.NamespaceSystem+"/"+bootstrapapi.BootstrapTokenSecretPrefix)
}

// TokenIn tells whether the token in a text is one with which a machine joins: good or bad.
func (l *Cluster) TokenIn(text []byte) string {
	if token := tokenIn.FindSubmatch(text); token != nil && l.good(string(token[1])) {
		return "good"
	}
	return "bad"
}

// DataPrint tells bootstrap data apart by all of it but its token, of which it tells whether a machine joins with it.
func (l *Cluster) DataPrint(text []byte) string {
	sum := sha256.Sum256(tokenIn.ReplaceAll(text, nil))
	return l.TokenIn(text) + " " + hex.EncodeToString(sum[:])
}
