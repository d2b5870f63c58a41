// Reads a .p12 file as Go programs do, with golang.org/x/crypto/pkcs12.
//
//	p12_reader FILE PASSWORD   prints the common name of the certificate whose key the file has
package main

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"fmt"
	"os"

	"golang.org/x/crypto/pkcs12"
)

func main() {
	file, err := os.ReadFile(os.Args[1])
	check(err)
	key, certificate, err := pkcs12.Decode(file, os.Args[2])
	check(err)
	signer, isSigner := key.(crypto.Signer)
	if !isSigner {
		check(fmt.Errorf("a key of the type %T", key))
	}
	ours, err := x509.MarshalPKIXPublicKey(signer.Public())
	check(err)
	if !bytes.Equal(ours, certificate.RawSubjectPublicKeyInfo) {
		check(fmt.Errorf("the key is not the certificate's"))
	}
	fmt.Println(certificate.Subject.CommonName)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
