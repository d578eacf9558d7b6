#!/bin/sh
# Makes a certificate authority, a certificate of the services and one of a client, by openssl (1.1.1 or newer):
#   infra/certificates.sh FOLDER [NAME-OR-ADDRESS…]      names of the services, default: localhost 127.0.0.1
# FOLDER then holds ca.pem, server.pem + server.key, client.pem + client.key, and server-all.pem (key and chain in one file, as Kafka takes it).
# An authority that is in FOLDER already is used again; certificates are made anew each time. Keys are readable by their owner alone.
set -eu
umask 077
days=${KM0_CERTIFICATE_DAYS:-825}
folder=${1:?folder of the certificates}
shift
[ $# -gt 0 ] || set -- localhost 127.0.0.1
mkdir -p "$folder"

names=
for name in "$@"; do
  case $name in
    *[!0-9.]*) case $name in *:*) kind=IP ;; *) kind=DNS ;; esac ;;
    *) kind=IP ;;
  esac
  names=${names:+$names,}$kind:$name
done

key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

if [ ! -f "$folder/ca.key" ]; then
  key "$folder/ca.key"
  openssl req -x509 -new -key "$folder/ca.key" -days 3650 -subj "/CN=${KM0_CA_NAME:-Quilometre Zero}" \
    -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign' -out "$folder/ca.pem"
fi

# sign WORD COMMON-NAME EXTENSIONS
sign() {
  key "$folder/$1.key"
  openssl req -new -key "$folder/$1.key" -subj "/CN=$2" -out "$folder/$1.csr"
  printf '%b' "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\n$3\n" >"$folder/$1.ext"
  openssl x509 -req -in "$folder/$1.csr" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -set_serial "0x$(openssl rand -hex 12)" \
    -days "$days" -extfile "$folder/$1.ext" -out "$folder/$1.pem" 2>/dev/null
  rm "$folder/$1.csr" "$folder/$1.ext"
}

sign server "$1" "extendedKeyUsage=serverAuth\nsubjectAltName=$names"
sign client "${KM0_CLIENT_NAME:-km0}" 'extendedKeyUsage=clientAuth'
cat "$folder/server.key" "$folder/server.pem" "$folder/ca.pem" >"$folder/server-all.pem"
chmod 644 "$folder/ca.pem" "$folder/server.pem" "$folder/client.pem"
echo "certificates for $names are in $folder"
