# Writes the SHA-256 of ${IN} to ${OUT}, in hexadecimal digits alone.
file(SHA256 ${IN} hash)
file(WRITE ${OUT} ${hash})
