// Package rest holds what Oracle's services have in common on the wire: signatures of requests, errors, bodies, pages and etags.
package rest
